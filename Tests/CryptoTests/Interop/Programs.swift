import Foundation
import JSON

/// Runs external programs for the tests.
enum Programs {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The root directory of the repository, three directories above this one.
    static let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized

    /// Runs a program and returns its standard output.
    ///
    /// - Throws: `Failure` with the standard error of the program if it cannot be started or exits with a status
    ///   other than 0.
    @discardableResult
    static func run(_ program: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        try process.run()
        stdin.fileHandleForWriting.write(Data(input))
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let complaint = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "\(program) \(arguments.joined(separator: " ")) ended with \(process.terminationStatus): "
                    + String(decoding: complaint, as: UTF8.self))
        }
        return [UInt8](output)
    }

    /// Runs `body` with a new temporary directory, which is removed afterwards.
    static func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crypto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// A Python interpreter with PyJWT and joserfc: the one of `Tests/run`, or one that is installed below `.build`
    /// on first use.
    static let python: Result<String, Failure> = Result { () throws(Failure) in
        let shared = root.appending(path: ".build/venv/bin/python").path
        if (try? run(shared, ["-c", "import jwt, joserfc"])) != nil { return shared }
        let interop = root.appending(path: "Tests/Interop")
        let folder = root.appending(path: ".build/interop-python")
        let python = folder.appending(path: "bin/python").path
        do {
            if (try? run(python, ["-c", "import jwt, joserfc"])) == nil {
                try run("python3", ["-m", "venv", "--clear", folder.path])
                try run(python, ["-m", "pip", "install", "--quiet", "-r", interop.appending(path: "requirements.txt").path])
            }
        } catch {
            throw Failure(
                description: "These tests need python3 with venv and pip (apt-get install python3-venv) and reach PyPI once: \(error)")
        }
        return python
    }

    /// Sends requests to `Tests/Interop/jose.py` and returns its responses.
    static func jose(_ requests: [JSONValue]) throws -> [JSONNode] {
        let script = root.appending(path: "Tests/Interop/jose.py").path
        let output = try run(python.get(), [script], input: Array(JSONValue.array(requests).text.utf8))
        var answers: [JSONNode] = []
        try JSONText(output).root.forEachElement { answers.append($1) }
        return answers
    }
}
