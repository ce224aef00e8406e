import Glibc
import JSON
import Platform
import Testing

@testable import JSONRPC

/// A server on its own thread. Its input is a pipe; its output is a socket that the server closes when it ends.
final class PipedServer: Sendable {
    private let toServer: Int32
    private let fromServer: Int32
    private let ended = ConditionLock<ServerEnding?>(nil)

    init(_ methods: some MethodLookup, options: ServerOptions = ServerOptions()) {
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        pipe(&input)
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &output)
        signal(SIGPIPE, SIG_IGN)
        (toServer, fromServer) = (input[1], output[0])
        let (reads, writes) = (input[0], output[1])
        let ended = ended
        let server = Server(methods, input: reads, output: writes, options: options) { ending in
            close(writes)
            ended.withLock { $0 = ending }
            ended.broadcast()
        }
        _ = Thread.start(name: "server") { server.run() }
    }

    func send(_ text: String) { send(bytes: Array((text + "\n").utf8)) }

    func send(bytes: [UInt8]) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(toServer, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    func endInput() { close(toServer) }

    /// Reads until the end of the output.
    func everything() -> [UInt8] { read(lines: .max) }

    private func read(lines count: Int) -> [UInt8] {
        var all: [UInt8] = []
        var byte = [UInt8](repeating: 0, count: 65_536)
        var lines = 0
        while lines < count {
            let got = Glibc.read(fromServer, &byte, byte.count)
            if got <= 0 { break }
            all += byte[..<got]
            lines += byte[..<got].count { $0 == 10 }
        }
        return all
    }

    /// Reads `count` lines, or until the end of the output.
    func lines(_ count: Int = .max) -> [JSONValue] {
        read(lines: count).split(separator: 10).compactMap { try? JSONValue(parsing: Array($0)) }
    }

    func waitForEnd() -> ServerEnding? { ended.wait(deadline: Monotonic.nanoseconds() + 20_000_000_000) { $0 } }
}

@Suite("a server over pipes")
struct ServerTests {
    private func request(_ id: Int, _ method: String) -> String { "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\"}" }

    private func ids(_ lines: [JSONValue]) -> [Int64] { lines.compactMap { $0["id"]?.int } }

    @Test("every request read before the end of the input gets a response")
    func endOfInput() {
        let server = PipedServer(testMethods)
        _ = Thread.start(name: "host") {
            server.send(
                (0..<5000).map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"method\":\"\($0 % 7 == 0 ? "move" : "nothing")\"}" }.joined(
                    separator: "\n"))
            server.endInput()
        }
        #expect(ids(server.lines()).sorted() == (0..<5000).map { Int64($0) })
        #expect(server.waitForEnd() == .inputEnded)
    }

    @Test("malformed and oversized lines get errors, and the next request is processed")
    func brokenLines() {
        var options = ServerOptions()
        options.maximumLine = 2000
        let server = PipedServer(testMethods, options: options)
        _ = Thread.start(name: "host") {
            for line in ["{nonsense", String(repeating: "[", count: 1500), "\"" + String(repeating: "x", count: 100_000), "", "\r", "   "] {
                server.send(line)
            }
            server.send(self.request(1, "nothing") + "\r")
            server.endInput()
        }
        let lines = server.lines()
        #expect(lines.compactMap { $0["error"]?["code"]?.int }.sorted() == [-32700, -32700, -32600])
        #expect(ids(lines) == [1])
    }

    @Test("slow calls do not delay calls on other lanes, and can be canceled")
    func lanes() {
        let gate = ConditionLock(false)
        let slow = MethodTable([
            Method("slow", on: .store) { call, _, _ in
                while gate.wait(deadline: Monotonic.nanoseconds() + 10_000_000, until: { $0 ? true : nil }) == nil {
                    if call.isCancelled { throw Cancelled() }
                }
            },
            Method("quick") { _, _, _ in },
        ])
        let server = PipedServer(slow)
        for id in 0..<40 { server.send(request(id, "slow")) }
        for id in 100..<110 { server.send(request(id, "quick")) }
        #expect(Set(ids(server.lines(10))) == Set(100..<110))
        // Cancellation ends the call both while it runs and while it waits for a thread.
        server.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":39}}"#)
        let cancelled = server.lines(1)
        #expect(cancelled.map { [$0["id"], $0["error"]?["code"]] } == [[39, -32800]])
        gate.withLock { $0 = true }
        gate.broadcast()
        #expect(server.lines(39).count == 39)
        server.endInput()
        #expect(server.waitForEnd() == .inputEnded)
    }

    @Test("deferred calls occupy no thread and are completed by a later call, even if their responses are then released")
    func answeredLater() {
        let waiting = ConditionLock<[DeferredResponse]>([])
        let methods = MethodTable([
            Method("wait") { call, _, _ in
                let answer = try call.answerLater()
                waiting.withLock { $0.append(answer) }
                waiting.broadcast()
            },
            Method("tell") { call, _, _ in
                let answers = waiting.withLock { all in
                    defer { all = [] }
                    return all
                }
                for answer in answers { answer.resume { _, result in result.string("told") } }
                call.notify("told") { $0.value(["count": .number(JSONNumber(Int64(answers.count)))]) }
            },
        ])
        let server = PipedServer(methods)
        for id in 0..<100 { server.send(request(id, "wait")) }
        waiting.wait { $0.count == 100 ? () : nil }
        server.send(request(100, "tell"))
        server.endInput()
        let lines = server.lines()
        #expect(lines.filter { $0["result"] == "told" }.count == 100)
        #expect(lines.allSatisfy { $0["error"] == nil })
        let notification = lines.firstIndex { $0["method"] == "told" }
        let answer = lines.firstIndex { $0["id"] == 100 }
        #expect(notification != nil && answer != nil && notification! < answer!)
    }

    @Test("in sequential mode, responses are sent in the order of the requests, whatever their lanes")
    func sequential() {
        var options = ServerOptions()
        options.sequential = true
        let server = PipedServer(testMethods, options: options)
        _ = Thread.start(name: "host") {
            for id in 0..<300 { server.send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(id % 3 == 0 ? "move" : "nothing")\"}") }
            server.endInput()
        }
        #expect(ids(server.lines()) == (0..<300).map { Int64($0) })
    }

    @Test("in sequential mode, a request that moves to another lane completes before the next one")
    func sequentialMoving() {
        let slow = Method("slow") { call, _, _ in call.proceed(on: .network) { _, _, _ in usleep(150_000) } }
        var options = ServerOptions()
        options.sequential = true
        let server = PipedServer(MethodTable([slow, Method("quick") { _, _, _ in }]), options: options)
        server.send(#"{"jsonrpc":"2.0","id":0,"method":"slow"}"#)
        usleep(50_000)
        server.send(#"{"jsonrpc":"2.0","id":1,"method":"quick"}"#)
        server.endInput()
        #expect(ids(server.lines()) == [0, 1])
    }

    @Test("every run of a call that has handled a secret wipes its stack, on whichever thread it runs")
    func secretsOfLaterRuns() {
        let moved = Method("moved") { call, _, _ in
            ProcessMemory.noteSecret()
            call.proceed(on: .network) { _, _, result in result.bool(ProcessMemory.hasSecret) }
        }
        let resumed = Method("resumed") { call, _, _ in
            ProcessMemory.noteSecret()
            let later = try call.answerLater()
            _ = Thread.start(name: "event") { later.resume { _, result in result.bool(ProcessMemory.hasSecret) } }
        }
        let plain = Method("plain") { call, _, _ in
            call.proceed(on: .network) { _, _, result in result.bool(ProcessMemory.hasSecret) }
        }
        let server = PipedServer(MethodTable([moved, resumed, plain]))
        for method in ["moved", "resumed", "plain"] { server.send(#"{"jsonrpc":"2.0","id":"\#(method)","method":"\#(method)"}"#) }
        server.endInput()
        let results = Dictionary(uniqueKeysWithValues: server.lines().map { ($0["id"]?.string ?? "", $0["result"]) })
        #expect(results == ["moved": true, "resumed": true, "plain": false])
    }

    @Test("a deferred response takes precedence over the handler's own result")
    func later() {
        let later = Method("later") { call, _, result in
            result.string("forgotten")
            try call.answerLater().resume { _, result in result.string("now") }
        }
        let server = PipedServer(MethodTable([later]))
        _ = Thread.start(name: "host") {
            for id in 0..<300 { server.send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"later\"}") }
            server.endInput()
        }
        let answers = server.lines()
        #expect(answers.count == 300)
        #expect(answers.allSatisfy { $0["result"] == "now" })
    }

    @Test("a host that does not read stops the server's reading, and later receives every response")
    func backpressure() {
        var options = ServerOptions()
        options.maximumUnsent = 100_000
        let server = PipedServer(testMethods, options: options)
        let written = ConditionLock(0)
        _ = Thread.start(name: "host") {
            for id in 0..<20_000 {
                server.send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"large\",\"params\":{\"count\":500}}")
                written.withLock { $0 = id }
            }
            server.endInput()
        }
        usleep(300_000)
        #expect(written.withLock { $0 } < 19_999)
        #expect(ids(server.lines()).sorted() == (0..<20_000).map { Int64($0) })
    }
}
