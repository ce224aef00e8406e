import Testing

@testable import Loopback

/// Parsing of the head of an HTTP request.
@Suite struct RequestHeadTests {
    private func head(_ text: String) throws -> RequestHead { try RequestHead(Array(text.utf8)) }

    @Test("the request line and headers are parsed; names are lowercased and values are trimmed")
    func taken() throws {
        let head = try head("POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-One: \t two  words \r\nContent-Length: 12\r\nEmpty:\r\n")
        #expect(head.method == "POST" && head.target == "/a?b=c" && head.bodyLength == 12 && head.keepsOpen)
        #expect(head.headers.map(\.name) == ["host", "x-one", "content-length", "empty"])
        #expect(head.headers.map(\.value) == ["127.0.0.1:80", "two  words", "12", ""])
    }

    @Test("the connection is closed after Connection: close and after HTTP/1.0")
    func closing() throws {
        #expect(try !head("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: TE, Close\r\n").keepsOpen)
        #expect(try !head("GET / HTTP/1.0\r\nHost: localhost\r\n").keepsOpen)
    }

    static let refusals: [(text: String, status: Int)] = [
        ("GET / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400), ("GET /  HTTP/1.1\r\nHost: a\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n", 505), ("GET http://a/ HTTP/1.1\r\nHost: a\r\n", 400), ("GET / HTTP/1.1\nHost: a\n", 400),
        ("GET / HTTP/1.1\r\nHost : a\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n", 501), ("GET / HTTP/1.1\r\nHost: a\u{0}\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 501),
        ("GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", 501),
        ("G\u{E4}T / HTTP/1.1\r\nHost: a\r\n", 400), ("\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\rb\r\n", 400),
    ]

    @Test("a head that parsers could interpret differently is rejected", arguments: refusals)
    func refused(text: String, status: Int) {
        #expect { try head(text) } throws: { ($0 as? RequestHead.Refusal)?.status == status }
    }

    static let hosts: [(host: String, isOurs: Bool)] = [
        ("127.0.0.1", true), ("127.0.0.1:8080", true), ("LocalHost:1", true), ("[::1]:5", true), ("127.0.0.1.example.com", false),
        ("evil.example", false), ("localhost:", false), ("localhost:80x", false), ("127.0.0.1@evil.example", false), ("", false),
    ]

    @Test("only requests addressed to this machine are accepted", arguments: hosts)
    func host(host: String, isOurs: Bool) throws {
        #expect(try head("GET / HTTP/1.1\r\nHost: \(host)\r\n").isForThisMachine == isOurs)
    }
}
