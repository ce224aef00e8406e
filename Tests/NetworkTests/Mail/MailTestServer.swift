import Foundation
import JSON
import Synchronization

@testable import Network

/// Runs `Tests/Interop/mailserver.py` once for all tests. The server exits and removes its files when its standard
/// input closes, at the latest when the test process exits.
final class MailTestServer: Sendable {
    static let shared = Result { try MailTestServer() }

    let ports: [String: Int]
    let caFile: String
    private let talk: Mutex<(input: FileHandle, output: FileHandle)>

    struct Failure: Error {
        let description: String
    }

    private init() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        // Standardizing the URL would resolve the symbolic link to a Python outside of the environment, which lacks
        // the packages.
        let prepared = tests.deletingLastPathComponent().appending(path: ".build/venv/bin/python").path
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let python = FileManager.default.isExecutableFile(atPath: prepared) ? prepared : "python3"
        process.arguments = [python, "-B", tests.appending(path: "Interop/mailserver.py").path]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        talk = Mutex((input.fileHandleForWriting, output.fileHandleForReading))
        guard let told = try? Self.line(output.fileHandleForReading) else {
            throw Failure(description: "mailserver.py ended; it needs openssl, and python3 with Tests/EndToEnd/requirements.txt")
        }
        ports = (told["ports"]?.object?.members ?? []).reduce(into: [:]) { $0[$1.name] = Int($1.value.int ?? 0) }
        caFile = told["caFile"]?.string ?? ""
    }

    private static func line(_ output: FileHandle) throws -> JSONValue {
        var line = Data()
        while !line.contains(0x0a) {
            let piece = output.availableData
            if piece.isEmpty { throw Failure(description: "mailserver.py ended") }
            line += piece
        }
        return try JSONValue(parsing: [UInt8](line))
    }

    private func ask(_ question: JSONValue) throws -> JSONValue {
        try talk.withLock { talk in
            talk.input.write(Data(question.bytes + [0x0a]))
            return try Self.line(talk.output)
        }
    }

    /// Returns the messages for an address that arrived since the previous call.
    func take(_ address: String) throws -> [JSONValue] { try ask(["take": .string(address)]).array ?? [] }

    /// Parses a message with Python's `email` and its strict policy.
    func parse(_ message: [UInt8]) throws -> JSONValue { try ask(["parse": .string(Data(message).base64EncodedString())]) }
}
