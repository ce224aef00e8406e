import Foundation
import Glibc
import Platform
import Synchronization
import Testing

@testable import Loopback

/// The loopback server over real sockets.
@Suite(.serialized) struct LoopbackServerTests {
    private let isAskedSlowly = ConditionLock(false)

    /// A server that responds with the method, target and body of the request.
    private func server(_ change: (inout LoopbackLimits) -> Void = { _ in }) throws -> LoopbackServer {
        var limits = LoopbackLimits()
        change(&limits)
        return try LoopbackServer(limits: limits) { [isAskedSlowly] request in
            if request.target == "/slow" {
                isAskedSlowly.withLock { $0 = true }
                isAskedSlowly.broadcast()
                usleep(300_000)
            }
            return LoopbackResponse(
                status: 200, headers: [("x-answer", "one\r\nx-smuggled: two")],
                body: Array("\(request.method) \(request.target) ".utf8) + request.body)
        }
    }

    @Test("several requests on one connection get responses in order, including pipelined requests")
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

    @Test("a reserved port cannot be bound, rejects connections, and can be listened on again after its release")
    func place() throws {
        let first = try server()
        first.stop()
        var place: ReservedPort? = try ReservedPort(port: first.port)
        #expect(place?.port == first.port)
        let refused = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(refused) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = first.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(refused, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        #expect(status == -1 && errno == ECONNREFUSED)
        #expect(throws: LoopbackFailure(port: Int(first.port), reason: "Address already in use")) { try Socket.listen(port: first.port) }
        place = nil
        let second = try LoopbackServer(port: first.port) { _ in LoopbackResponse(status: 200, text: "again") }
        defer { second.stop() }
        #expect(second.port == first.port)
    }

    @Test("a response without content has no Content-Length, and the next response follows it")
    func noContent() throws {
        let server = try LoopbackServer { LoopbackResponse(status: $0.target == "/none" ? 204 : 200, text: "x") }
        defer { server.stop() }
        let client = Client(server)
        client.send("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\nGET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let answers = client.everything().components(separatedBy: "\r\n\r\n")
        #expect(answers.count == 3 && answers[0].hasPrefix("HTTP/1.1 204") && !answers[0].contains("content-length"))
        #expect(answers[1].hasPrefix("HTTP/1.1 200") && answers[1].contains("content-length: 2") && answers[2] == "x\n")
    }

    @Test("HEAD gets a response without a body, and Expect: 100-continue gets a 100 response")
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

    @Test("requests that are too long, too slow or for another host are rejected, and the connection is closed")
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

    @Test("a client that is rejected while it is still sending receives the status")
    func refusedWhileSending() throws {
        let server = try server { limits in
            limits.bodyBytes = 10
            limits.lingerSeconds = 20
        }
        defer { server.stop() }
        let client = Client(server)
        client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n")
        #expect(client.some().hasPrefix("HTTP/1.1 413"))
        let sent = client.send(String(repeating: "x", count: 4_000_000))
        #expect(sent == 4_000_000)
        #expect(client.everything() == "")
    }

    @Test("a connection above the limit replaces an idle one")
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

    @Test("a connection above the limit waits while all others are being served, and is then served")
    func busy() throws {
        let server = try server { $0.connections = 1 }
        defer { server.stop() }
        let clients = (0..<20).map { _ in Client(server) }
        for (each, client) in clients.enumerated() {
            client.send("GET \(each == 0 ? "/slow" : "/a") HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        for client in clients { #expect(client.some().hasPrefix("HTTP/1.1 200")) }
    }

    @Test("a chunked body is assembled, and the next request follows it")
    func chunks() throws {
        let server = try server()
        defer { server.stop() }
        let client = Client(server)
        client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123")
        client.send("456789\r\n0\r\nX-Trailer: 1\r\n\r\nGET /b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let bodies = client.everything().components(separatedBy: "\r\n\r\n").dropFirst().map {
            $0.components(separatedBy: "HTTP/1.1").first ?? ""
        }
        #expect(bodies == ["POST /a abc0123456789", "GET /b "])
    }

    @Test(
        "a chunked body that is too long or malformed is rejected",
        arguments: [
            ("6\r\nabcdef\r\n6\r\n", "413"), ("FFFFFFFF\r\n", "413"), ("FFFFFFFFF\r\n", "400"), ("-1\r\n", "400"), ("\r\n", "400"),
            ("2\r\nabc\r\n", "400"), ("2\nab\r\n", "400"), ("0x2\r\nab\r\n", "400"),
        ])
    func badChunks(body: String, status: String) throws {
        let server = try server { $0.bodyBytes = 10 }
        defer { server.stop() }
        let client = Client(server)
        client.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")
        #expect(client.some().prefix(12) == "HTTP/1.1 \(status)")
    }

    @Test("stopping waits for running requests but not for idle connections, and frees the port")
    func stopping() throws {
        let server = try server()
        let idle = Client(server)
        idle.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(idle.some().hasPrefix("HTTP/1.1 200"))
        let slow = Client(server)
        slow.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        isAskedSlowly.wait { $0 ? () : nil }
        let began = Monotonic.nanoseconds()
        server.stop()
        #expect(Monotonic.nanoseconds() - began < 4_500_000_000)
        #expect(slow.everything().hasSuffix("GET /slow "))
        let again = try LoopbackServer(port: server.port) { _ in LoopbackResponse(status: 204) }
        again.stop()
    }

    @Test("a connection is closed if no thread can be started, and the next one is served")
    func threads() throws {
        let started = Atomic(0)
        let server = try LoopbackServer(startThread: { body in
            // The first thread accepts connections; the second one serves a connection.
            started.add(1, ordering: .relaxed).newValue == 2 ? EAGAIN : Thread.tryStart(name: "loopback", body)
        }) { _ in LoopbackResponse(status: 200, text: "served") }
        let turnedAway = Client(server)
        #expect(turnedAway.everything() == "")
        let next = Client(server)
        next.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(next.everything().hasPrefix("HTTP/1.1 200"))
        server.stop()
        #expect(throws: LoopbackFailure(port: 0, reason: "a thread could not be started: Resource temporarily unavailable")) {
            try LoopbackServer(startThread: { _ in EAGAIN }) { _ in LoopbackResponse(status: 204) }
        }
    }

    @Test("accepting continues after every error except those of an unusable socket")
    func errors() {
        for error in [EINVAL, EBADF, ENOTSOCK] { #expect(Socket.isOver(error)) }
        for error in [EINTR, ECONNABORTED, EMFILE, ENFILE, ENOMEM, EPERM, EPROTO, ENETDOWN, EHOSTUNREACH] { #expect(!Socket.isOver(error)) }
        var pair: [Int32] = [0, 0]
        pipe(&pair)
        defer { pair.forEach { close($0) } }
        #expect(Socket.accept(pair[0]) == nil)
    }

    @Test("a port that is in use is reported with its number")
    func taken() throws {
        let server = try server()
        defer { server.stop() }
        #expect(throws: LoopbackFailure(port: Int(server.port), reason: "Address already in use")) {
            try LoopbackServer(port: server.port) { _ in LoopbackResponse(status: 204) }
        }
    }
}

/// A client with one connection to the server.
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

    @discardableResult func send(_ text: String) -> Int { Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// The bytes that arrive first.
    func some() -> String {
        var block = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &block, block.count, 0)
        return String(decoding: block.prefix(max(0, count)), as: UTF8.self)
    }

    /// All bytes until the connection ends.
    func everything() -> String {
        var all = ""
        while case let more = some(), !more.isEmpty { all += more }
        return all
    }
}
