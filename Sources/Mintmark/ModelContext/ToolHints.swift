import Contract
import JSONRPC

/// The annotations of a tool, from which a client decides whether to ask the user before a call.
///
/// The contract defines only `readOnly`. A method that writes counts as destructive unless its name is in the list of adding methods.
struct ToolHints: Equatable {
    let readOnly: Bool
    /// Whether the method changes or removes existing data.
    let destructive: Bool
    /// Whether a repeated call with the same arguments has no further effect.
    let idempotent: Bool
    /// Whether the method may contact other machines or users.
    let openWorld: Bool

    private static let adding: Set = [
        "anonymously", "assumeRole", "authorize", "authorizeDevice", "backup", "challenge", "confirm", "create", "enroll", "get",
        "identityId",
        "link", "mint", "mintForDeveloper", "open", "reauthenticate", "refresh", "resendCode", "resolve", "rotate", "start",
        "submitAttributes", "submitCode", "submitToken", "tag", "token", "withContinuation", "withCredential", "withCustomToken",
        "withPassword",
    ]
    private static let repeatable: Set = [
        "apply", "clearCredentials", "clearKeychain", "close", "delete", "put", "resolve", "revoke", "revokeAll", "setClaims", "setLogins",
        "setPrincipalTags", "setRoles", "signOut", "tag", "unlink", "unlinkDeveloper", "untag", "update", "withdraw",
    ]

    init(_ method: MethodInfo) {
        let verb = method.name.split(separator: ".").last.map(String.init) ?? ""
        readOnly = method.isReadOnly
        destructive = !method.isReadOnly && !Self.adding.contains(verb)
        idempotent = method.isReadOnly || Self.repeatable.contains(verb)
        openWorld = method.name.hasPrefix("idp.") || method.cost == .network
    }
}
