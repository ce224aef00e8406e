import Glibc
import JSON
import Platform
import Synchronization
import Testing

@testable import JSONRPC

@Suite("a server in the process of its caller")
struct LocalServerTests {
    @Test("closing the server answers pending requests, even while another response is being received")
    func cutOff() {
        let (waiting, begun, released) = (ConditionLock<[DeferredResponse]>([]), ConditionLock(false), ConditionLock(false))
        let received = Mutex<[UInt8]>([])
        let methods = MethodTable([
            Method("wait") { call, _, _ in
                let answer = try call.answerLater {
                    released.withLock { $0 = true }
                    released.broadcast()
                }
                waiting.withLock { $0.append(answer) }
            },
            Method("quick") { _, _, _ in },
        ])
        let server = LocalServer(methods) { lines in
            begun.withLock { $0 = true }
            begun.broadcast()
            released.wait { $0 ? () : nil }
            // Delays the receiver: `close` must wait until the responses are delivered.
            usleep(50_000)
            received.withLock { $0 += lines }
        }
        let take = { @Sendable (text: String) in
            var text = text
            text.withUTF8 { server.take(UnsafeRawBufferPointer($0)) }
        }
        take(#"{"jsonrpc":"2.0","id":1,"method":"wait"}"#)
        _ = Thread.start(name: "host") { take(#"{"jsonrpc":"2.0","id":2,"method":"quick"}"#) }
        begun.wait { $0 ? () : nil }
        _ = server.close(deadline: Monotonic.nanoseconds())
        let answers = received.withLock { $0 }.split(separator: 10).compactMap { try? JSONValue(parsing: Array($0)) }
        #expect(answers.compactMap { $0["id"]?.int }.sorted() == [1, 2])
    }

    @Test("the thread that writes the responses left by callers ends when its outbox is released")
    func writer() {
        let gone = usedOutbox()
        let deadline = Monotonic.nanoseconds() + 20_000_000_000
        while gone.outbox != nil, Monotonic.nanoseconds() < deadline { usleep(1000) }
        #expect(gone.outbox == nil)
    }

    private struct Gone { weak var outbox: Outbox? }

    private final class Echo: Sendable {
        let outbox = Mutex<Outbox?>(nil)
        let received = ConditionLock(0)
    }

    /// A weak reference to a closed outbox for which a writer thread was started.
    private func usedOutbox() -> Gone {
        let echo = Echo()
        let flow = FlowControl(.init(unansweredRequests: .max, unansweredBytes: .max, unsentBytes: .max))
        let output = Output { _ in
            let count = echo.received.withLock { count in
                count += 1
                return count
            }
            echo.received.broadcast()
            // Sends another line each time, so that the calling thread stops writing and a thread takes over.
            if count < 10 { echo.outbox.withLock { $0 }?.send(Array("x\n".utf8)) }
        }
        let outbox = Outbox(output, flow: flow, onBroken: { _ in }, onEmpty: {})
        echo.outbox.withLock { $0 = outbox }
        outbox.send(Array("x\n".utf8))
        #expect(echo.received.wait(deadline: Monotonic.nanoseconds() + 20_000_000_000) { $0 == 10 ? () : nil } != nil)
        echo.outbox.withLock { $0 = nil }
        outbox.close()
        return Gone(outbox: outbox)
    }
}
