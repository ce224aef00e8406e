import Contract
import JSONRPC

/// What a tool's annotations say to whoever decides whether it may be called without asking a person.
///
/// Only `readOnly` is in the contract. Of what writes, everything counts as destructive whose name is not among those that add.
struct ToolHints: Equatable {
    let readOnly: Bool
    /// Whether it changes or takes away what was there.
    let destructive: Bool
    /// Whether calling it again with the same arguments changes nothing more.
    let idempotent: Bool
    /// Whether it may reach other machines, or people.
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
        openWorld = method.name.hasPrefix("idp.") || Lanes.lane(of: method, nil) == .network
    }
}
