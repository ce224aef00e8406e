import Accounts
import ArgumentParser
import Contract
import Glibc
import JSON
import JSONRPC
import Mintmark
import Platform
import ServiceContext

/// The store of a command that is about the session of whoever sits here.
struct OwnStore {
    let calls: Calls
    private let mintmark: Mintmark
    private let services: Services
    /// Whose session it is among those who share the store. A SQLite store is one user's own; a PostgreSQL database is shared by many
    /// users of many machines.
    private let name: String

    /// Opens it, and makes none.
    ///
    /// - Throws: `ValidationError`, why the store cannot be used, which has been said.
    init(_ settings: StoreSettings) throws {
        var configuration = try settings.configuration()
        configuration.makesStores = false
        configuration.publicCaller = false
        mintmark = Mintmark(configuration)
        if case .postgres = configuration.store {
            var host = [CChar](repeating: 0, count: 256)
            gethostname(&host, host.count - 1)
            name = "\(getuid())@\(String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
        } else {
            name = ""
        }
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

    /// Keeps the session of a finished sign-in.
    func keep(_ answer: JSONValue) throws {
        guard let idToken = answer["idToken"]?.string, let accessToken = answer["accessToken"]?.string,
            let refreshToken = answer["refreshToken"]?.string
        else { throw ExitCode(1) }
        do {
            try services.ownSessions.keep(
                OwnSessions.Tokens(idToken: idToken, accessToken: accessToken), refreshToken: refreshToken, as: name, OwnCall())
        } catch { throw Printing.failure(error) }
    }

    /// - Throws: why there are no tokens; nil where nobody is signed in.
    func tokens(goodFor seconds: Int64) throws -> OwnSessions.Tokens? {
        try services.ownSessions.tokens(name, goodFor: seconds, OwnCall())
    }

    /// Answers false if nobody was signed in.
    func end() throws -> Bool {
        do { return try services.ownSessions.end(name, OwnCall()) } catch { throw Printing.failure(error) }
    }
}

/// Requests to this process itself, as a pipe would bring them.
struct Calls {
    private let responder: Responder

    init(_ responder: Responder) { self.responder = responder }

    /// What was answered instead of a result.
    struct Refused: Error {
        let error: JSONValue

        var type: String { error["data"]?["type"]?.string ?? "" }
        var message: String { error["message"]?.string ?? "" }

        /// Says it on standard error.
        ///
        /// - Returns: what to end the process with.
        func failure() -> any Error {
            let violations = error["data"]?["violations"]?.array ?? []
            return Printing.failure(
                type: type, message: message,
                violations: violations.map { ($0["pointer"]?.string ?? "", $0["message"]?.string ?? "") })
        }
    }

    /// - Throws: `Refused`.
    func ask(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        let answer = responder.answer(request.bytes).flatMap { try? JSONValue(parsing: $0) } ?? [:]
        guard let result = answer["result"] else { throw Refused(error: answer["error"] ?? [:]) }
        return result
    }

    /// The same, for what is fatal: it has been said.
    func result(_ method: String, _ params: JSONValue) throws -> JSONValue {
        do { return try ask(method, params) } catch let refused as Refused { throw refused.failure() }
    }
}

extension OwnSessions.Tokens {
    /// For how many seconds after they were issued both tokens are valid; nil if they do not say so.
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
    /// The path of the store if it is a file that does not exist.
    ///
    /// - Throws: `ValidationError`.
    func missingStore() throws -> String? {
        guard case .file(let path) = try configuration().store, access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else {
            return nil
        }
        return path
    }

    /// The options that say which store, as they are typed.
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
