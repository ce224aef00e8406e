import Foundation
import Platform
import Testing

@Suite struct LineFileTests {
    private func lines(_ text: String, longest: Int = 100_000) throws -> [LineFile.Line] {
        let url = FileManager.default.temporaryDirectory.appending(path: "mintmark-\(UUID().uuidString).txt")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try LineFile(url.path, longestLine: longest)
        var lines: [LineFile.Line] = []
        while let line = try file.next() { lines.append(line) }
        return lines
    }

    private func text(_ text: String) -> LineFile.Line { .text(Array(text.utf8)) }

    @Test("lines are read one at a time, with either line ending and without a final one")
    func plain() throws {
        #expect(try lines("") == [])
        #expect(try lines("a\nbc\r\n\nd") == [text("a"), text("bc"), text(""), text("d")])
        #expect(try lines("a\n") == [text("a")])
        #expect(try lines("\n") == [text("")])
    }

    @Test("a line can span several reads, and only lines above the limit are skipped")
    func long() throws {
        let long = String(repeating: "x", count: 70_000)
        #expect(try lines("a\n\(long)\nb\n") == [text("a"), text(long), text("b")])
        #expect(try lines("a\n\(long)\nb\n", longest: 69_999) == [text("a"), .tooLong, text("b")])
        #expect(try lines("abcd\nabc", longest: 3) == [.tooLong, text("abc")])
        #expect(try lines("a\n\(long)", longest: 10) == [text("a"), .tooLong])
    }

    @Test("directories, devices and missing files are rejected", arguments: ["/", "/dev/zero", "/nowhere/at/all"])
    func refusals(_ path: String) {
        #expect(throws: LineFile.Failure.self) { _ = try LineFile(path, longestLine: 100) }
    }

    @Test("a rejected file is closed exactly once, so that files of other threads stay open")
    func closedOnce() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "mintmark-\(UUID().uuidString).txt")
        try Data("a\n".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let path = url.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<100_000 { _ = try? LineFile("/", longestLine: 100) } }
            group.addTask {
                for _ in 0..<100_000 {
                    let file = try LineFile(path, longestLine: 100)
                    #expect(try file.next() == .text([UInt8(ascii: "a")]))
                }
            }
            try await group.waitForAll()
        }
    }
}
