/// The context of a request to the Identity Toolkit API: the project, the form of its tokens, and how the caller is identified.
public struct FirebaseEndpoint: Sendable {
    public enum Caller: Sendable {
        /// The request names its caller, as at the emulator: every key is a client, and `Bearer owner` is an administrator.
        case named
        /// The host has authenticated the caller.
        case client
        case administrator
    }

    /// The project of requests that name none.
    let projectId: String
    /// Whether tokens are signed. Unsigned tokens are valid only at their endpoint.
    let signsTokens: Bool
    let caller: Caller

    /// The endpoint of a test on the loopback interface.
    public static func test(projectId: String, signsTokens: Bool) -> FirebaseEndpoint {
        FirebaseEndpoint(projectId: projectId, signsTokens: signsTokens, caller: .named)
    }

    /// The endpoint of a host that has authenticated the caller. Its tokens are always signed.
    public static func hosted(projectId: String, isAdministrator: Bool) -> FirebaseEndpoint {
        FirebaseEndpoint(projectId: projectId, signsTokens: true, caller: isAdministrator ? .administrator : .client)
    }

    /// Whether the endpoint behaves like the emulator: it sends no messages and accepts the credentials of identity providers unverified.
    var isTest: Bool { caller == .named }
}
