import Foundation
import JSON

@testable import Network

/// Runs `Tests/Interop/webserver.py` once for all tests. The server exits and removes its files when its standard
/// input closes, at the latest when the test process exits.
final class TestServer: Sendable {
    static let shared = Result { try TestServer() }

    let ports: [String: Int]
    let caFile: String
    private let input = Pipe()

    struct Failure: Error {
        let description: String
    }

    private init() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Interop/webserver.py").standardizedFileURL
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        var line = Data()
        while !line.contains(0x0a) {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { throw Failure(description: "webserver.py ended; it needs python3 and openssl") }
            line += piece
        }
        let told = try JSONValue(parsing: [UInt8](line))
        ports = (told["ports"]?.object?.members ?? []).reduce(into: [:]) { $0[$1.name] = Int($1.value.int ?? 0) }
        caFile = told["caFile"]?.string ?? ""
    }

    /// The origin of one of the servers: `http`, `https`, `otherName`, `expired`, `unknown` or `proxy`.
    func origin(_ name: String = "http") -> String {
        "\(["http", "proxy"].contains(name) ? "http" : "https")://127.0.0.1:\(ports[name] ?? 0)"
    }

    /// Sets the response of the servers for a path.
    func set(_ path: String, _ answer: JSONObject) throws {
        var answer = answer
        answer["path"] = .string(path)
        let response = try control.send(
            HTTPRequest(.POST, url: origin() + "/set", body: JSONValue.object(answer).bytes, policy: .testing))
        guard response.status == 204 else { throw Failure(description: "webserver.py did not learn") }
    }

    /// The requests for a path: `count` and, for the latest one, `method`, `headers`, `body` and the client port as
    /// `client`.
    func seen(_ path: String) throws -> JSONValue {
        try JSONValue(parsing: try control.send(HTTPRequest(url: origin() + "/seen?" + path, policy: .testing)).body)
    }

    func count(_ path: String) throws -> Int { Int(try seen(path)["count"]?.int ?? -1) }

    private let control = CurlClient()
}

extension HTTPPolicy {
    /// The policy of a testing store.
    static let testing = HTTPPolicy(allowsInsecureLoopback: true)
}
