import JSON
import JSONRPC
import Platform

/// Thrown by a call that needs what somebody else is fetching already: it is run again, from the beginning, when that has ended, and
/// holds no thread until then.
struct WaitsForOthers: Error {
    /// Runs what it is given when the wait is over.
    let whenOver: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Has `body` run for `call` when the wait is over.
    func resume(_ call: Call, _ result: inout JSONWriter, _ body: @escaping @Sendable (Call, inout JSONWriter) throws -> Void) throws {
        guard let later = try? call.answerLater() else {
            // Too many wait already: this one does so on a thread.
            guard call.lane == .network else { throw MoveToLane(.network) }
            untilOver()
            return try body(call, &result)
        }
        whenOver { later.resume(on: call.lane, body) }
    }

    /// Waits on this thread.
    func untilOver() {
        let isOver = Gate(false)
        whenOver {
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        isOver.wait { $0 ? () : nil }
    }
}
