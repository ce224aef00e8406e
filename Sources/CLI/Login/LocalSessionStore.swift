import Accounts
import Arguments
import Contract
import Glibc
import JSON
import JSONRPC
import Mintmark
import Platform
import ServiceContext

/// The store of a command that uses the session of the local user.
struct LocalSessionStore {
    let calls: Calls
    private let mintmark: Mintmark
    private let services: Services
    /// The name of the session in a shared store. A SQLite store belongs to one user; a PostgreSQL database can be shared by many users on
    /// many machines.
    private let name: String

    /// Opens the store. Does not create it.
    ///
    /// - Throws: `ValidationError`; the reason the store cannot be used, after it has been printed.
    init(_ settings: StoreSettings) throws {
        var configuration = try settings.configuration()
        configuration.makesStores = false
        configuration.publicCaller = false
        mintmark = Mintmark(configuration)
        name = Self.localUser(of: configuration.store)
        do { services = try mintmark.services() } catch {
            mintmark.close()
            let end = Printing.failure(error)
            if case .file(let path) = configuration.store, access(path, F_OK) != 0 {
                Printing.err("  " + ProviderChoice.howToMakeOne(settings.commandText))
            }
            throw end
        }
        calls = Calls(mintmark.responder)
    }

    func close() { mintmark.close() }

    /// Returns the name of the user of this machine among those who share the store. Empty for a store that belongs to one user.
    static func localUser(of store: Configuration.Store) -> String {
        guard case .postgres = store else { return "" }
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        return "\(getuid())@\(String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    }

    /// Stores the session of a completed sign-in.
    func keep(_ answer: JSONValue) throws {
        guard let idToken = answer["idToken"]?.string, let accessToken = answer["accessToken"]?.string,
            let refreshToken = answer["refreshToken"]?.string
        else { throw ExitCode(1) }
        do {
            try services.ownSessions.keep(
                LocalSessions.Tokens(idToken: idToken, accessToken: accessToken), refreshToken: refreshToken, as: name, OwnCall())
        } catch { throw Printing.failure(error) }
    }

    /// - Returns: The tokens, or `nil` if no user is signed in.
    /// - Throws: The reason the tokens are unavailable.
    func tokens(goodFor seconds: Int64) throws -> LocalSessions.Tokens? {
        try services.ownSessions.tokens(name, goodFor: seconds, OwnCall())
    }

    /// Ends the session. Returns `false` if no user was signed in.
    func end() throws -> Bool {
        do { return try services.ownSessions.end(name, OwnCall()) } catch { throw Printing.failure(error) }
    }
}

extension LocalSessions.Tokens {
    /// The time for which both tokens are valid after they were issued, in seconds; `nil` if a token has no `iat` or `exp`.
    var lifetime: Int64? {
        let lifetimes = [idToken, accessToken].map { token -> Int64? in
            let parts = token.split(separator: ".")
            guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])), let claims = try? JSONValue(parsing: bytes),
                let issuedAt = claims["iat"]?.int, let expiresAt = claims["exp"]?.int
            else { return nil }
            return expiresAt - issuedAt
        }
        return lifetimes.contains(nil) ? nil : lifetimes.compactMap(\.self).min()
    }
}

extension StoreSettings {
    /// Returns the path of the store if it is a file that does not exist.
    ///
    /// - Throws: `ValidationError`.
    func missingStore() throws -> String? {
        guard case .file(let path) = try configuration().store, access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else {
            return nil
        }
        return path
    }

    /// The options that select the store, as entered on a command line.
    var commandText: String {
        func quoted(_ text: String) -> String {
            text.utf8.allSatisfy { $0 > 0x2A && $0 < 0x7B && !";<>?[\\]^`".utf8.contains($0) } ? text : "'\(text)'"
        }
        let options = [("--app", app), ("--store", store), ("--master-key-file", masterKeyFile)].compactMap { name, value in
            value.map { " \(name) \(quoted($0))" }
        }
        return options.joined() + (testing ? " --testing" : "")
    }
}
