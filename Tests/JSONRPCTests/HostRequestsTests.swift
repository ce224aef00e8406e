import Glibc
import JSON
import Platform
import Synchronization
import Testing

@testable import JSONRPC

@Suite("requests to the host")
struct HostRequestsTests {
    /// A host that takes the requests of a process.
    private final class Host: Sendable {
        let requests = HostRequests()
        let sent = ConditionLock<[JSONValue]>([])
        let waits = Mutex(0)

        func connect() {
            requests.connect(
                .init(
                    send: { [self] writer in
                        let line = writer.bytes
                        sent.withLock { $0.append((try? JSONValue(parsing: line)) ?? .null) }
                        sent.broadcast()
                    }, sendIfRoom: { _ in true }, wait: { [self] begins in waits.withLock { $0 += begins ? 1 : -1 } }))
        }

        /// Returns the outcome of a request for which `answer` is called with its ID.
        func outcome(within milliseconds: Int = 20_000, _ answer: @escaping @Sendable (Host, String) -> Void) -> HostRequests.Outcome {
            let before = sent.withLock { $0.count }
            _ = Thread.start(name: "host") { [self] in
                let id = sent.wait { $0.count > before ? $0[before]["id"]?.string : nil }
                answer(self, id)
            }
            return requests.ask("hook/x", ["n": 1], within: milliseconds)
        }

        @discardableResult
        func take(_ text: String) -> Bool {
            var text = text
            return text.withUTF8 { requests.accept(UnsafeRawBufferPointer($0)) }
        }
    }

    @Test("a response settles its request, and the thread is lent while it waits")
    func response() {
        let host = Host()
        host.connect()
        let outcome = host.outcome { host, id in
            #expect(host.waits.withLock { $0 } == 1)
            #expect(host.take(#"{"jsonrpc":"2.0","id":"\#(id)","result":{"a":[1]}}"#))
        }
        guard case .result(let value) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(value == ["a": [1]])
        #expect(host.waits.withLock { $0 } == 0)
        #expect(host.sent.withLock { $0 } == [["jsonrpc": "2.0", "id": "h1", "method": "hook/x", "params": ["n": 1]]])
    }

    @Test("errors, malformed responses, expiry, the deadline and the end of the host have their outcomes")
    func outcomes() {
        let host = Host()
        if case .ended = host.requests.ask("hook/x", [:], within: 1) {} else { #expect(Bool(false)) }
        host.connect()
        if case .error = host.outcome({ $0.take(#"{"jsonrpc":"2.0","id":"\#($1)","error":{"code":1}}"#) }) {} else { #expect(Bool(false)) }
        for text in [#""error":7}"#, #""result":1,"error":{}}"#] {
            let outcome = host.outcome { $0.take(#"{"jsonrpc":"2.0","id":"\#($1)","# + text) }
            if case .malformed = outcome {} else { #expect(Bool(false), "\(outcome)") }
        }
        if case .malformed = host.outcome({ $0.take(#"{"id":"\#($1)","result":1}"#) }) {} else { #expect(Bool(false)) }
        if case .timedOut = host.outcome({ host, _ in host.requests.expire() }) {} else { #expect(Bool(false)) }
        if case .timedOut = host.outcome(within: 1, { _, _ in }) {} else { #expect(Bool(false)) }
        if case .ended = host.outcome({ host, _ in host.requests.disconnect() }) {} else { #expect(Bool(false)) }
        #expect(host.requests.pendingCount == 0)
        #expect(!host.requests.isConnected)
    }

    @Test("a late or foreign response is ignored, and a request is none")
    func others() {
        let host = Host()
        #expect(!host.take(#"{"jsonrpc":"2.0","id":"h1","result":1}"#), "nothing was asked yet")
        host.connect()
        _ = host.outcome { $0.take(#"{"jsonrpc":"2.0","id":"\#($1)","result":1}"#) }
        #expect(host.take(#"{"jsonrpc":"2.0","id":"h1","result":1}"#))
        #expect(host.take(#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#))
        #expect(!host.take(#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"result":1}}"#))
        #expect(!host.take(#"{"jsonrpc":"2.0","id":"h1"}"#))
        #expect(!host.take(#"{"result":"#))
        #expect(!host.take(""))
    }

    @Test("only a limited number of requests wait")
    func limit() {
        let host = Host()
        host.connect()
        for _ in 0..<HostRequests.maximumPending { _ = Thread.start(name: "call") { _ = host.requests.ask("hook/x", [:], within: 20_000) } }
        host.sent.wait { $0.count == HostRequests.maximumPending ? () : nil }
        if case .tooMany = host.requests.ask("hook/x", [:], within: 20_000) {} else { #expect(Bool(false)) }
        host.requests.disconnect()
    }
}
