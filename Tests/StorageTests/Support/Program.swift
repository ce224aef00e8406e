import Foundation

/// Another process: the probe that is built with these tests, or the sqlite3 shell.
final class Program: @unchecked Sendable {
    // This is safe because each test uses the process from one thread at a time.
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ path: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    static func probe(_ arguments: String...) throws -> Program {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(fileURLWithPath: tests).deletingLastPathComponent().path
        return try Program("\(folder)/StorageProbe", arguments)
    }

    static func shell(_ file: String) throws -> Program { try Program("/usr/bin/env", ["sqlite3", "-batch", file]) }

    func say(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Returns the next `count` lines of output, or fewer if the process ends.
    func lines(_ count: Int) -> [Substring] {
        var text = ""
        while text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.split(separator: "\n")
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func finish() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
