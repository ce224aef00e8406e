import Arguments
import Glibc
import JSON
import Mintmark
import ServiceContext
import Platform

/// The store and the servers of `mintmark run`, in this process.
final class RunSession {
    private let mintmark: Mintmark
    private(set) var variables = ExportedVariables()

    /// - Parameters:
    ///   - store: An existing testing store, or `nil` for a new one in `folder`.
    /// - Throws: `ExitCode` if the store cannot be used; `ValidationError`.
    init(store: String?, folder: String?) throws {
        var settings = StoreSettings()
        settings.testing = true
        settings.store = store.map(Self.absolute) ?? folder.map { $0 + "/store.db" }
        var configuration = try settings.configuration()
        if configuration.store == .memory {
            throw ValidationError("--store :memory: is not possible: the command could not use it. Leave --store out for a new store.")
        }
        if store == nil {
            // A key of the environment belongs to another store.
            (configuration.masterKey, configuration.masterKeyFile) = (nil, nil)
        }
        mintmark = Mintmark(configuration)
        variables.set("MINTMARK_STORE", settings.store ?? "")
        variables.set("MINTMARK_TESTING", "true")
        if let file = configuration.keyFile?.path ?? configuration.masterKeyFile.map(Self.absolute) {
            variables.remove("MINTMARK_MASTER_KEY")
            variables.set("MINTMARK_MASTER_KEY_FILE", file)
        }
        variables.set("MINTMARK_BINARY", Self.program)
        do { _ = try mintmark.services() } catch { throw Printing.failure(error) }
    }

    func close() { mintmark.close() }

    /// Fills the store.
    func prepare(seed: String?, _ document: ApplyFile?, accounts: String?) throws {
        if let seed { _ = try call("test.seed", ["seed": .string(seed)]) }
        try document?.apply(to: mintmark)
        guard let accounts else { return }
        let result = try call("account.import", ["file": .string(Self.absolute(accounts))], from: "--accounts \(accounts)")
        for failure in result["failures"]?.array ?? [] {
            let line = failure["line"]?.int.map { ":\($0)" } ?? ""
            Printing.err("\(Printing.errorWord) \(accounts)\(line): \(failure["message"]?.string ?? failure.text)")
        }
        if result["failed"]?.int != 0 || result["completed"]?.bool != true { throw ExitCode(1) }
    }

    /// Starts the test provider. The first issuer is the one that services are configured with.
    func startProvider(_ names: [String]) throws {
        let issuers = names.map { name -> JSONValue in
            ["name": .string(name), "passwordless": true, "createAccounts": true]
        }
        let result = try call("test.idp", ["issuers": .array(issuers)], from: "--idp")
        variables.set("OIDC_ISSUER", result["issuer"]?.string ?? "")
        variables.set("OIDC_DISCOVERY_URL", result["discoveryUrl"]?.string ?? "")
        variables.set("JWKS_URL", result["jwksUrl"]?.string ?? "")
        // The issuers accept every client.
        variables.set("OIDC_CLIENT_ID", "test-client")
        variables.set("OIDC_CLIENT_SECRET", "test-secret")
        let known = (result["issuers"]?.array ?? []).prefix(names.count).compactMap { $0["issuer"]?.string }
        variables.set("MINTMARK_IDP_ISSUERS", known.joined(separator: ","))
    }

    /// Starts the endpoint for AWS SDKs, which verifies no signatures.
    func startEndpoint() throws {
        variables.set("AWS_ENDPOINT_URL", try call("test.http", [:], from: "--aws")["baseUrl"]?.string ?? "")
        variables.set("AWS_ACCESS_KEY_ID", "test")
        variables.set("AWS_SECRET_ACCESS_KEY", "test")
        variables.set("AWS_REGION", mintmark.configuration.realm.region)
    }

    /// - Parameter source: The prefix of an error.
    private func call(_ method: String, _ params: JSONValue, from source: String? = nil) throws -> JSONValue {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        let answer = mintmark.responder.answer(request.bytes).flatMap { try? JSONValue(parsing: $0) } ?? [:]
        if let result = answer["result"] { return result }
        if let source { Printing.err("\(source):") }
        let error = answer["error"] ?? [:]
        throw Printing.failure(
            type: error["data"]?["type"]?.string ?? "", message: error["message"]?.string ?? "",
            violations: (error["data"]?["violations"]?.array ?? []).map { ($0["pointer"]?.string ?? "", $0["message"]?.string ?? "") })
    }

    /// The path of this program, which the clients of the command start.
    private static var program: String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = path.withUnsafeMutableBytes {
            readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        return count > 0 ? String(decoding: path[..<count], as: UTF8.self) : CommandLine.arguments[0]
    }

    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") || path.hasPrefix(":") || path.includes("://") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
