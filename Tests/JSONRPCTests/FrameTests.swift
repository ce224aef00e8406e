import Glibc
import JSON
import Platform
import Testing

@testable import JSONRPC

@Suite("messages framed by Content-Length")
struct FrameTests {
    private func header(_ text: String) -> FrameHeader.Reading { Array(text.utf8).withUnsafeBytes { FrameHeader.read($0) } }

    private func framed(_ text: String) -> String { "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" }

    @Test(
        "a complete header yields the length of the body in bytes",
        arguments: [
            "Content-Length: 7\r\n\r\n", "content-length:7\r\n\r\n", "CONTENT-LENGTH: \t007 \r\n\r\n",
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 7\r\n\r\n",
            "Content-Length: 7\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
            "Content-Length: 7\r\nContent-Type: application/vscode-jsonrpc;charset=\"UTF-8\"\r\n\r\n",
            "Content-Length: 7\r\nContent-Type: application/vscode-jsonrpc\r\nX-Other: what:ever\r\n\r\n",
        ])
    func complete(_ text: String) {
        #expect(header(text + "rest") == .complete(FrameHeader(length: 7, size: text.utf8.count)))
        for count in 1..<text.utf8.count { #expect(header(String(decoding: text.utf8.prefix(count), as: UTF8.self)) == .unfinished) }
    }

    @Test(
        "a malformed header is reported with the specific problem",
        arguments: [
            ("Content-Length: 7\n\n", FrameFlaw.bareNewline), ("\n", .bareNewline), ("{\"jsonrpc\":\"2.0\"}", .looksLikeJSON),
            ("[", .looksLikeJSON),
            ("Content-Length 7\r\n\r\n", .notAField), (": 7\r\n", .notAField), ("Content-Length : 7\r\n", .notAField),
            ("Content-Längth: 7\r\n", .notAField), ("\r\n", .noLength), ("Content-Type: text/plain\r\n\r\n", .noLength),
            ("Content-Length: 7\r\nContent-Length: 7\r\n\r\n", .twoLengths), ("Content-Length: -7\r\n\r\n", .badLength),
            ("Content-Length: +7\r\n\r\n", .badLength), ("Content-Length: 7.0\r\n\r\n", .badLength),
            ("Content-Length: 0x7\r\n\r\n", .badLength),
            ("Content-Length:\r\n\r\n", .badLength), ("Content-Length: 7 7\r\n\r\n", .badLength),
            ("Content-Length: 67108865\r\n\r\n", .hugeLength),
            ("Content-Length: 99999999999999999999999999\r\n\r\n", .hugeLength),
            ("X: " + String(repeating: "x", count: 4096), .headerTooLong),
            (String(repeating: "X: y\r\n", count: 1000), .headerTooLong),
        ])
    func broken(_ text: String, _ flaw: FrameFlaw) { #expect(header(text) == .broken(flaw)) }

    @Test("a header with another charset is recognized, so that its body can be skipped")
    func charset() {
        let text = "Content-Length: 7\r\nContent-Type: application/vscode-jsonrpc; charset=utf-16\r\n\r\n"
        #expect(header(text) == .complete(FrameHeader(length: 7, isUTF8: false, size: text.utf8.count)))
    }

    /// The responses of a server with Content-Length framing to `input`, and the reason for which it ended.
    private func answers(to input: String, maximum: Int = 1 << 20) -> (messages: [JSONValue], ending: ServerEnding?) {
        var options = ServerOptions()
        options.framing = .contentLength
        options.maximumLine = maximum
        let server = PipedServer(testMethods, options: options)
        _ = Thread.start(name: "host") {
            server.send(bytes: Array(input.utf8))
            server.endInput()
        }
        let all = server.everything()
        var messages: [JSONValue] = []
        var rest = all[...]
        while case .complete(let header) = rest.withUnsafeBytes({ FrameHeader.read($0) }) {
            let body = rest.dropFirst(header.size).prefix(header.length)
            if let message = try? JSONValue(parsing: Array(body)) { messages.append(message) }
            rest = rest.dropFirst(header.size + header.length)
        }
        #expect(rest.isEmpty)
        return (messages, server.waitForEnd())
    }

    private func request(_ id: Int, padding: Int = 0) -> String {
        framed(#"{"jsonrpc":"2.0","id":\#(id),"method":"nothing"\#(String(repeating: " ", count: padding))}"#)
    }

    @Test("thousands of messages get a response each, including large and empty ones")
    func many() {
        let input = (0..<3000).map { request($0, padding: $0 % 500 == 0 ? 300_000 : 0) }.joined() + framed("") + framed(" \r\n\t")
        let (messages, ending) = answers(to: input)
        #expect(messages.compactMap { $0["id"]?.int }.sorted() == (0..<3000).map { Int64($0) })
        #expect(messages.compactMap { $0["error"]?["code"]?.int } == [-32700, -32700])
        #expect(ending == .inputEnded)
    }

    @Test("a message above the limit or in another charset is skipped, and the next one is processed")
    func skipped() {
        let other = "Content-Length: 4\r\nContent-Type: text/plain; charset=latin1\r\n\r\nbody"
        let (messages, ending) = answers(
            to: framed(String(repeating: "x", count: 500_000)) + request(1) + other + request(2), maximum: 2000)
        #expect(messages.compactMap { $0["error"]?["code"]?.int } == [-32600, -32600])
        #expect(messages.compactMap { $0["id"]?.int }.sorted() == [1, 2])
        #expect(ending == .inputEnded)
    }

    @Test(
        "after an unreadable header, earlier requests get responses, the error is reported and reading stops",
        arguments: ["Content-Length: x\r\n\r\n", "Content-Length: 10\r\n\r\nshort", "Content-Length: 10", "\r\n"])
    func final(_ text: String) {
        // Input that ends inside a message cannot be followed by another message.
        let after = text.hasSuffix("\r\n") ? request(2) : ""
        let (messages, ending) = answers(to: request(1) + text + after)
        #expect(Set(messages.map { $0["id"] }) == [1, .null])
        #expect(messages.contains { $0["error"]?["message"]?.string?.contains("so reading stops") == true })
        #expect(ending == .inputUnreadable(EBADMSG))
    }
}
