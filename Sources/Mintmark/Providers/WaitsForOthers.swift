import JSON
import JSONRPC
import Platform

/// Thrown by a call that needs data that another call is already fetching. The call runs again, from the beginning, when that fetch has
/// ended, and blocks no thread until then.
struct WaitsForOthers: Error {
    /// Runs its argument when the fetch has ended.
    let whenOver: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Schedules `body` for `call` after the wait.
    func resume(_ call: Call, _ result: inout JSONWriter, _ body: @escaping @Sendable (Call, inout JSONWriter) throws -> Void) throws {
        guard let later = try? call.answerLater() else {
            // Too many calls are waiting, so this call blocks a thread.
            guard call.lane == .network else { throw MoveToLane(.network) }
            untilOver()
            return try body(call, &result)
        }
        whenOver { later.resume(on: call.lane, body) }
    }

    /// Waits on the current thread.
    func untilOver() {
        let isOver = ConditionLock(false)
        whenOver {
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        isOver.wait { $0 ? () : nil }
    }
}
