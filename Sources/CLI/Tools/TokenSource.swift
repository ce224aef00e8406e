import Arguments
import Glibc
import JSON
import Mintmark
import Platform

/// The source of the token for a tool.
enum TokenSource: Equatable {
    /// The session of `mintmark login`.
    case session(tenant: String?)
    /// A file, which is read each time.
    case file(String)
    /// A shell command, which runs each time.
    case command(String)
    /// The store, as the developer, for an identity.
    case identity(String)
    /// The store, as the developer, for a user of the developer provider of a pool.
    case developerUser(String, pool: String)

    /// The longest token file and the longest output of a token command, in bytes.
    private static let longest = 64 * 1024

    /// Returns a token.
    ///
    /// - Parameter goodFor: The remaining lifetime, in seconds, below which the session is refreshed first.
    /// - Throws: `ToolFailure`.
    func token(_ store: ToolStore, goodFor seconds: Int64 = 300) throws -> SourceToken {
        switch self {
        case .session(let tenant):
            let token = try SourceToken(store.sessionToken(goodFor: seconds), from: "The session")
            if let tenant, !token.issuer.hasSuffix("/tenants/\(tenant)") {
                throw ToolStore.notSignedIn("The signed-in user belongs to another tenant than \(tenant).", store.settings)
            }
            return token
        case .file(let path): return try SourceToken(Self.text(ofFile: path), from: "The file \(path)")
        case .command(let command):
            return try SourceToken(TokenProcess(command).output(limit: Self.longest), from: "The output of --token-command")
        case .identity(let id): return try SourceToken(Self.minted(store, forIdentity: id), from: "The answer")
        case .developerUser(let name, let pool):
            return try SourceToken(Self.minted(store, pool: pool, user: name, identity: nil), from: "The answer")
        }
    }

    /// A text that identifies the owner of the tokens of this source, for the name of cached credentials. For a session and a file it
    /// depends on the current token, so that another user or workload never gets credentials from the cache.
    func owner(_ store: ToolStore) throws -> String {
        func claims(_ token: SourceToken) -> String {
            ["iss", "sub", "aud", "sid"].map { token.claims[$0]?.text ?? "" }.joined(separator: "\u{0}")
        }
        switch self {
        case .session: return "session\u{0}" + claims(try token(store, goodFor: 0))
        case .file(let path): return "file\u{0}\(path)\u{0}" + claims(try token(store))
        case .command(let command): return "command\u{0}\(command)"
        case .identity(let id): return "identity\u{0}\(id)"
        case .developerUser(let name, let pool): return "developerUser\u{0}\(pool)\u{0}\(name)"
        }
    }

    private static func text(ofFile path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw ToolFailure(1, "tokenFileUnreadable", "The file \(path) cannot be read (\(String(cString: strerror(errno)))).")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + length, $0.count - length) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ToolFailure(1, "tokenFileUnreadable", "The file \(path) cannot be read (\(String(cString: strerror(errno)))).")
            }
            if count == 0 { break }
            length += count
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
    }

    /// Mints a pool token as the developer: for the developer user identifier of the identity, or for a guest without logins.
    private static func minted(_ store: ToolStore, forIdentity id: String) throws -> String {
        let identity = try store.call("identity.get", ["identityId": .string(id)])
        if identity["logins"]?.array?.isEmpty ?? true {
            return try store.call("token.mint", ["identityId": .string(id)])["token"]?.string ?? ""
        }
        let pool = identity["poolId"]?.string ?? ""
        let users: JSONValue
        do {
            users = try store.call("identity.lookupDeveloper", ["poolId": .string(pool), "identityId": .string(id)])
        } catch let failure as ToolFailure {
            guard ["unsupportedDeveloperProvider", "developerUserNotFound"].contains(failure.code) else { throw failure }
            users = [:]
        }
        guard let user = users["developerUserIdentifiers"]?.array?.first?.string else {
            throw ToolFailure(
                1, "developerUserNotFound",
                "The identity \(id) has no developer user identifier, so the store cannot mint a token for it without its logins. "
                    + "Use --token-file, or sign in with mintmark login.")
        }
        return try minted(store, pool: pool, user: user, identity: id)
    }

    private static func minted(_ store: ToolStore, pool: String, user: String, identity: String?) throws -> String {
        guard let provider = try store.call("pool.get", ["poolId": .string(pool)])["developerProvider"]?.string else {
            throw ToolFailure(1, "unsupportedDeveloperProvider", "The pool \(pool) has no developer provider. Set one with pool.update.")
        }
        var params: JSONObject = ["poolId": .string(pool), "logins": .object([provider: .string(user)]), "durationSeconds": 3600]
        params["identityId"] = identity.map { .string($0) }
        return try store.call("token.mintForDeveloper", params)["token"]?.string ?? ""
    }
}

/// A token of a source, with its claims, which are not verified.
struct SourceToken {
    let text: String
    let claims: JSONValue

    /// - Parameter source: The subject of the sentence in the error.
    /// - Throws: `ToolFailure` if the text is not a JSON Web Token.
    init(_ text: String, from source: String) throws {
        let trimmed = String(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        let parts = trimmed.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])), let claims = try? JSONValue(parsing: bytes),
            claims.object != nil
        else { throw ToolFailure(1, "tokenMalformed", "\(source) contains no JSON Web Token.") }
        (self.text, self.claims) = (trimmed, claims)
    }

    var issuer: String { claims["iss"]?.string ?? "" }
    var expiresAt: Int64? { claims["exp"]?.int }
}
