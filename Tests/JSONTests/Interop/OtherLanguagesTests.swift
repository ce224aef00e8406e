import Foundation
import Platform
import Testing

@testable import JSON

@Suite("JSON interoperability with other languages")
struct OtherLanguagesTests {
    /// The test values, and the line that the writer produces for each.
    private static let written: (values: [JSONValue], lines: [[UInt8]]) = {
        var random = RandomValues(seed: 20_231_114)
        var values: [JSONValue] = (0..<1_000).map { _ in random.value() }
        values += (0..<50).map { _ in random.deepest() }
        values += [nil, [], [:], [[]], ["": [:]], ""]
        let lines = values.map { value in
            var writer = JSONWriter()
            writer.write(value, in: &random)
            return writer.bytes
        }
        return (values, lines)
    }()

    private var values: [JSONValue] { Self.written.values }
    private var lines: [[UInt8]] { Self.written.lines }

    @Test("Python's json module reads the written text back with equal digits and member order")
    func pythonReads() throws {
        for (value, answer) in zip(values, try answers("python3", "json_canonical.py")) where answer.read != Canonical.exact(value) {
            Issue.record("\(value.text.prefix(500)) was read as \(answer.read.prefix(500))")
        }
    }

    @Test("Node's JSON.parse reads the written text back as an equal value")
    func nodeReads() throws {
        for (value, answer) in zip(values, try answers("node", "json_canonical.mjs")) where answer.read != Canonical.javaScript(value) {
            Issue.record("\(value.text.prefix(500)) was read as \(answer.read.prefix(500))")
        }
    }

    @Test("the reader reads the output of Python's json.dumps as an equal value")
    func pythonWrites() throws {
        for answer in try answers("python3", "json_canonical.py") {
            let read = try JSONValue(parsing: answer.text)
            if Canonical.python(read) != answer.written {
                Issue.record("\(String(decoding: answer.text, as: UTF8.self)) was read otherwise")
            }
        }
    }

    @Test("the reader reads the output of JSON.stringify as an equal value")
    func nodeWrites() throws {
        for answer in try answers("node", "json_canonical.mjs") {
            let read = try JSONValue(parsing: answer.text)
            if Canonical.javaScript(read) != answer.written {
                Issue.record("\(String(decoding: answer.text, as: UTF8.self)) was read otherwise")
            }
        }
    }

    @Test("the reader reads the written text back as an equal value, and the text contains no line feed")
    func ownReader() throws {
        for (value, line) in zip(values, lines) {
            #expect(try JSONValue(parsing: line) == value)
            #expect(!line.contains(0x0A))
        }
    }

    @Test("every finite double is read back bit for bit, including the sign of zero")
    func doubles() throws {
        var random = RandomValues(seed: 7)
        let some = (0..<2_000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        for double in some + [0, -0.0, 1e15, -1e15, 0.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            var writer = JSONWriter()
            writer.double(double)
            #expect(try JSONValue(parsing: writer.bytes).number?.double.bitPattern == double.bitPattern)
        }
    }

    /// The result of another program for one line: the value it read, the value it then wrote, and the text it wrote.
    private struct Answer {
        let read: Substring
        let written: Substring
        let text: [UInt8]
    }

    /// Passes the lines to a program in `Tests/Interop` and returns its results.
    private func answers(_ program: String, _ script: String) throws -> [Answer] {
        let file = FileManager.default.temporaryDirectory.appending(path: "json-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(lines.joined(separator: [0x0A]) + [0x0A]).write(to: file)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let scripts = URL(fileURLWithPath: #filePath).appending(path: "../../../Interop").standardized
        process.arguments = [program, scripts.appending(path: script).path, file.path]
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) is needed for this test, and must end well")
        let answers = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        try #require(answers.count == lines.count)
        return try answers.map { line in
            let parts = line.split(separator: " ")
            return Answer(read: parts[0], written: parts[1], text: try #require(Hex.decode(String(parts[2]))))
        }
    }
}

extension JSONWriter {
    /// Writes `value` with a randomly chosen sequence of writer methods that produces the same text.
    fileprivate mutating func write(_ value: JSONValue, in random: inout RandomValues) {
        let isPlain = Bool.random(using: &random)
        switch value {
        case .null where isPlain: null()
        case .bool(let bool) where isPlain: self.bool(bool)
        case .number(let number) where isPlain:
            if let int = Int64(number.text), "\(int)" == number.text { self.int(int) } else { raw(Array(number.text.utf8)) }
        case .string(let text) where isPlain: string(utf8: text.utf8)
        case .string(let text):
            beginString()
            for scalar in text.unicodeScalars { part(String(scalar)) }
            endString()
        case .array(let elements):
            beginArray()
            for element in elements { write(element, in: &random) }
            endArray()
        case .object(let object):
            beginObject()
            for (name, value) in object.members {
                key(name)
                write(value, in: &random)
            }
            endObject()
        default: self.value(value)
        }
    }
}
