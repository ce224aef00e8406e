import Foundation
import Glibc
import Platform
import Testing

@testable import Loopback

/// The server, over real sockets.
@Suite(.serialized) struct LoopbackServerTests {
    /// Answers what it was asked, as text.
    private func server(_ change: (inout LoopbackLimits) -> Void = { _ in }) throws -> LoopbackServer {
        var limits = LoopbackLimits()
        change(&limits)
        return try LoopbackServer(limits: limits) { request in
            if request.target == "/slow" { usleep(300_000) }
            return LoopbackResponse(
                status: 200, headers: [("x-answer", "one\r\nx-smuggled: two")],
                body: Array("\(request.method) \(request.target) ".utf8) + request.body)
        }
    }

    @Test("requests follow each other on one connection, also when they were sent together")
    func keepAlive() throws {
        let server = try server()
        defer { server.stop() }
        let client = Client(server)
        client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nxyz")
        client.send("GET /c HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        let answers = client.everything()
        let bodies = answers.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.components(separatedBy: "HTTP/1.1").first ?? "" }
        #expect(bodies == ["GET /a ", "POST /b xyz", "GET /c "])
        #expect(answers.components(separatedBy: "connection: keep-alive").count == 3 && answers.contains("connection: close"))
        #expect(!answers.contains("\r\nx-smuggled"))
    }

    @Test("HEAD is answered without the body, and who waits for a go-ahead gets it")
    func headAndContinue() throws {
        let server = try server()
        defer { server.stop() }
        let head = Client(server)
        head.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(head.everything().hasSuffix("content-length: 8\r\nconnection: close\r\n\r\n"))
        let waiting = Client(server)
        waiting.send("POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
        #expect(waiting.some() == "HTTP/1.1 100 Continue\r\n\r\n")
        waiting.send("ok")
        #expect(waiting.everything().hasSuffix("POST /b ok"))
    }

    @Test("what is too long, too slow or meant for somebody else is refused, and the connection ends")
    func refusals() throws {
        let server = try server { limits in
            limits.bodyBytes = 10
            limits.headBytes = 500
            limits.transferSeconds = 1
            limits.idleSeconds = 1
        }
        defer { server.stop() }
        func status(_ text: String) -> String {
            let client = Client(server)
            client.send(text)
            return String(client.everything().prefix(12))
        }
        #expect(status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n01234567890") == "HTTP/1.1 413")
        #expect(status("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "a", count: 600)) == "HTTP/1.1 431")
        #expect(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n") == "HTTP/1.1 421")
        #expect(status("nonsense\r\n\r\n") == "HTTP/1.1 400")
        #expect(status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab") == "")
        #expect(status("") == "")
    }

    @Test("a connection too many takes the place of one that says nothing")
    func connections() throws {
        let server = try server { $0.connections = 2 }
        defer { server.stop() }
        let first = Client(server)
        first.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(first.some().hasPrefix("HTTP/1.1 200"))
        for _ in 0..<20 {
            let silent = Client(server)
            let next = Client(server)
            next.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(next.everything().hasPrefix("HTTP/1.1 200"))
            silent.close()
        }
        #expect(first.everything() == "")
    }

    @Test("a connection too many is turned away while all others are being answered, and there is room again after that")
    func busy() throws {
        let server = try server { $0.connections = 1 }
        defer { server.stop() }
        let busy = Client(server)
        busy.send("GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        usleep(100_000)
        #expect(Client(server).everything().hasPrefix("HTTP/1.1 503"))
        #expect(busy.everything().hasSuffix("GET /slow "))
        var answer = ""
        for _ in 0..<50 where !answer.hasPrefix("HTTP/1.1 200") {
            let next = Client(server)
            next.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = next.everything()
        }
        #expect(answer.hasPrefix("HTTP/1.1 200"))
    }

    @Test("stopping waits for what is being answered and not for who is idle, and frees the port")
    func stopping() throws {
        let server = try server()
        let idle = Client(server)
        idle.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(idle.some().hasPrefix("HTTP/1.1 200"))
        let slow = Client(server)
        slow.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        usleep(100_000)
        let began = Monotonic.nanoseconds()
        server.stop()
        #expect(Monotonic.nanoseconds() - began < 3_000_000_000)
        #expect(slow.everything().hasSuffix("GET /slow "))
        let again = try LoopbackServer(port: server.port) { _ in LoopbackResponse(status: 204) }
        again.stop()
    }

    @Test("a port that is taken is named")
    func taken() throws {
        let server = try server()
        defer { server.stop() }
        #expect(throws: LoopbackFailure(port: Int(server.port), reason: "Address already in use")) {
            try LoopbackServer(port: server.port) { _ in LoopbackResponse(status: 204) }
        }
    }
}

/// The other side of a connection.
private final class Client {
    private var descriptor: Int32

    init(_ server: LoopbackServer) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func send(_ text: String) { _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// What arrives first.
    func some() -> String {
        var block = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &block, block.count, 0)
        return String(decoding: block.prefix(max(0, count)), as: UTF8.self)
    }

    /// Everything until the connection ends.
    func everything() -> String {
        var all = ""
        while case let more = some(), !more.isEmpty { all += more }
        return all
    }
}
