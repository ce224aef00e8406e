import Foundation
import JSON
import Platform
import Synchronization
import Testing

@testable import Network

/// The HTTP client with real servers.
@Suite struct CurlClientTests {
    let server: TestServer
    let client: CurlClient

    init() throws {
        server = try TestServer.shared.get()
        client = CurlClient(.init(caFile: server.caFile))
    }

    /// The reason for which a request fails, or `nil` if it succeeds.
    func failure(_ url: String, policy: HTTPPolicy = .testing, of client: CurlClient? = nil) -> HTTPFailure.Reason? {
        do throws(HTTPFailure) {
            _ = try (client ?? self.client).send(HTTPRequest(url: url, policy: policy))
            return nil
        } catch {
            #expect(!error.description.contains("secret"), "\(error)")
            return error.reason
        }
    }

    @Test("a GET request returns status, headers and body")
    func get() throws {
        try server.set("/get", ["body": "hello", "headers": ["Content-Type": "Application/JSON; charset=utf-8", "X-Empty": ""]])
        let response = try client.send(
            HTTPRequest(url: server.origin() + "/get", headers: [("X-Asked", "yes"), ("X-Nothing", "")], policy: .testing))
        #expect(response.status == 200)
        #expect(response.body == Array("hello".utf8))
        #expect(response.contentType == "application/json")
        #expect(response.header("x-empty") == "")
        let headers = try #require(try server.seen("/get")["headers"])
        #expect(headers["User-Agent"] == "mintmark")
        #expect(headers["X-Asked"] == "yes")
        #expect(headers["X-Nothing"] == "")
        #expect(headers["Accept-Encoding"] == nil)
    }

    @Test("a POST request sends its body, including an empty one", arguments: ["a=b&c=\u{e9}", ""])
    func post(body: String) throws {
        try server.set("/post", ["status": 201])
        let request = HTTPRequest(
            .POST, url: server.origin() + "/post", headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8),
            policy: .testing)
        #expect(try client.send(request).status == 201)
        let seen = try server.seen("/post")
        #expect(seen["method"] == "POST")
        #expect(seen["body"]?.string == body)
        #expect(seen["headers"]?["Expect"] == nil)
    }

    @Test("an error status is returned as a response")
    func notFound() throws {
        #expect(try client.send(HTTPRequest(url: server.origin() + "/nowhere", policy: .testing)).status == 404)
    }

    @Test("a certificate of the authority in --ca-file is accepted")
    func trusted() throws {
        try server.set("/tls", ["body": "safe"])
        let policy = HTTPPolicy(allowsPrivateNetwork: true)
        #expect(try client.send(HTTPRequest(url: server.origin("https") + "/tls", policy: policy)).body == Array("safe".utf8))
    }

    @Test("certificates for another name, expired ones and those of an unknown authority are rejected with the reason")
    func certificates() throws {
        let policy = HTTPPolicy(allowsPrivateNetwork: true)
        func why(_ name: String, _ client: CurlClient? = nil) -> String {
            guard case .certificate(let why)? = failure(server.origin(name), policy: policy, of: client) else { return "" }
            return why
        }
        #expect(why("otherName").contains("127.0.0.1"))
        #expect(why("expired").contains("expired"))
        #expect(why("unknown").contains("issuer"))
        #expect(why("https", CurlClient()).contains("issuer"))
        #expect(
            failure(server.origin("https"), policy: policy, of: CurlClient(.init(caFile: "/nowhere.pem"))) == .unreadableCertificateFile)
    }

    @Test("plain HTTP is rejected except to loopback with permission")
    func plain() {
        #expect(failure(server.origin(), policy: HTTPPolicy()) == .schemeNotAllowed("http"))
        #expect(failure(server.origin(), policy: HTTPPolicy(allowsPrivateNetwork: true)) == .schemeNotAllowed("http"))
        #expect(failure("http://example.com/") == .schemeNotAllowed("http"))
        #expect(failure("http://10.0.0.1/") == .schemeNotAllowed("http"))
        #expect(failure("ftp://127.0.0.1/") == .schemeNotAllowed("ftp"))
        #expect(failure("file:///etc/passwd") == .schemeNotAllowed("file"))
    }

    @Test(
        "private and loopback addresses are rejected in every notation",
        arguments: [
            "127.0.0.1", "localhost", "LOCALHOST", "a.localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "2130706433", "0x7f.1",
            "127.1",
            "0177.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0", "[64:ff9b::7f00:1]", "[fd00:ec2::254]",
            "100.100.100.200",
        ])
    func privateAddresses(host: String) {
        #expect(failure("https://\(host):\(server.ports["https"]!)/", policy: HTTPPolicy()) == .privateAddress)
    }

    @Test("an IPv4-mapped loopback address can be reached if loopback is allowed")
    func mapped() throws {
        try server.set("/mapped", ["body": "here"])
        #expect(
            try client.send(HTTPRequest(url: "http://[::ffff:127.0.0.1]:\(server.ports["http"]!)/mapped", policy: .testing)).status == 200)
    }

    @Test("malformed URLs, URLs with passwords and headers with line breaks are rejected")
    func malformed() {
        for url in [
            "", "example.com/x", "https://", "https://a b/", "https://a/\r\nX: y", "https://a/\u{0}b", "https://[::1", "https://a:99999/",
        ] {
            #expect(failure(url) == .malformedURL, "\(url)")
        }
        #expect(failure("https://user:secret@example.com/") == .credentialsInURL)
        for header in [("X", "a\r\nY: b"), ("X: Y\r\nZ", "a"), ("", "a"), ("X", "a\u{0}")] {
            #expect(throws: HTTPFailure.self) {
                try client.send(HTTPRequest(url: server.origin(), headers: [header], policy: .testing))
            }
        }
    }

    @Test("redirects to the same origin are followed up to the limit")
    func redirects() throws {
        for step in 0..<3 { try server.set("/r\(step)", ["status": 302, "headers": ["Location": .string("/r\(step + 1)?secret=1")]]) }
        for step in 1..<3 {
            try server.set("/r\(step)?secret=1", ["status": 302, "headers": ["Location": .string("/r\(step + 1)?secret=1")]])
        }
        try server.set("/r3?secret=1", ["body": "there"])
        #expect(try client.send(HTTPRequest(url: server.origin() + "/r0", policy: .testing)).body == Array("there".utf8))
        #expect(
            failure(server.origin() + "/r0", policy: HTTPPolicy(allowsInsecureLoopback: true, maximumRedirects: 2)) == .tooManyRedirects)
        try server.set("/circle", ["status": 301, "headers": ["Location": "/circle"]])
        #expect(failure(server.origin() + "/circle") == .tooManyRedirects)
    }

    @Test("redirects to another origin and redirects of a POST are rejected without a request to the target")
    func redirectsElsewhere() throws {
        let other = server.origin("https")
        let targets: [(String, String)] = [
            (other + "/elsewhere?secret=1", other), ("https://example.com/", "https://example.com"),
            ("http://localhost:\(server.ports["http"]!)/", "http://localhost:\(server.ports["http"]!)"),
            ("http://169.254.169.254/latest", "a URL that is not allowed"), ("https://10.0.0.1/", "a URL that is not allowed"),
            ("file:///etc/passwd", "a URL that is not allowed"), ("http://user@127.0.0.1/", "a URL that is not allowed"),
        ]
        for (location, target) in targets {
            try server.set("/leave", ["status": 307, "headers": ["Location": .string(location)]])
            #expect(failure(server.origin() + "/leave") == .redirectRefused(to: target), "\(location)")
        }
        #expect(try server.count("/elsewhere?secret=1") == 0)
        try server.set("/posted", ["status": 307, "headers": ["Location": "/again"]])
        #expect(throws: HTTPFailure(.redirectRefused(to: server.origin()), at: server.origin())) {
            try client.send(HTTPRequest(.POST, url: server.origin() + "/posted", policy: .testing))
        }
        #expect(try server.count("/again") == 0)
    }

    @Test("slow responses, slow transfers and slow redirects end at the time limit")
    func slow() throws {
        let policy = HTTPPolicy(allowsInsecureLoopback: true, timeoutMilliseconds: 600)
        try server.set("/slow", ["delay": 5])
        try server.set("/drip", ["drip": true])
        try server.set("/slowly", ["delay": 0.4, "status": 302, "headers": ["Location": "/slowly"]])
        for path in ["/slow", "/drip", "/slowly"] {
            let start = Monotonic.nanoseconds()
            #expect(failure(server.origin() + path + "", policy: policy) == .timedOut(milliseconds: 600), "\(path)")
            #expect(Monotonic.nanoseconds() - start < 4_500_000_000)
        }
    }

    @Test("a response above the maximum length is aborted, with or without Content-Length, and including the headers")
    func large() throws {
        try server.set("/large", ["size": 10_000_000])
        #expect(failure(server.origin() + "/large") == .tooLarge(maximumBytes: 1 << 20))
        try server.set("/unannounced", ["raw": .string("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 2000))])
        #expect(
            failure(server.origin() + "/unannounced", policy: HTTPPolicy(allowsInsecureLoopback: true, maximumBytes: 1999))
                == .tooLarge(maximumBytes: 1999))
        #expect(failure(server.origin() + "/unannounced", policy: HTTPPolicy(allowsInsecureLoopback: true, maximumBytes: 2000)) == nil)
        let lines = String(repeating: "X-Long: " + String(repeating: "x", count: 1000) + "\r\n", count: 80)
        try server.set("/headers", ["raw": .string("HTTP/1.1 200 OK\r\n" + lines + "\r\n")])
        #expect(failure(server.origin() + "/headers") == .tooLarge(maximumBytes: 64 * 1024))
    }

    @Test("malformed and truncated responses are protocol errors")
    func broken() throws {
        for (path, raw) in [
            ("/empty", ""), ("/short", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), ("/noise", "secret noise\r\n\r\n"),
        ] {
            try server.set(path, ["raw": .string(raw)])
            guard case .protocolError? = failure(server.origin() + path) else {
                Issue.record("\(path): \(failure(server.origin() + path) as Any)")
                continue
            }
        }
    }

    @Test("a refused connection and an unresolvable name are distinct failures")
    func unreachable() {
        #expect(failure("http://127.0.0.1:1/") == .unreachable)
        #expect(failure("https://nowhere.invalid/") == .unresolvable)
    }

    @Test("a request can be canceled while it waits for the response")
    func cancelled() throws {
        try server.set("/awaited", ["delay": 8])
        let start = Monotonic.nanoseconds()
        let isCancelled: @Sendable () -> Bool = { Monotonic.nanoseconds() - start > 200_000_000 }
        #expect(throws: HTTPFailure(.cancelled, at: server.origin())) {
            try client.send(HTTPRequest(url: server.origin() + "/awaited", policy: .testing, isCancelled: isCancelled))
        }
        #expect(Monotonic.nanoseconds() - start < 7_500_000_000)
    }
}
