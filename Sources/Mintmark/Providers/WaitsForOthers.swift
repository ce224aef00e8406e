import JSON
import JSONRPC
import Platform

/// Thrown by a call that needs what somebody else is fetching already: it is run again, from the beginning, when that has ended, and
/// holds no thread until then.
struct WaitsForOthers: Error {
    /// Runs what it is given when the wait is over.
    let whenOver: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Runs `body` for `call`, again whenever it has waited.
    static func resuming(
        _ call: Call, _ result: inout JSONWriter, _ body: @escaping @Sendable (Call, inout JSONWriter) throws -> Void
    ) throws {
        do { try body(call, &result) } catch let wait as WaitsForOthers {
            guard let later = try? call.answerLater() else {
                // Too many wait already: this one does so on a thread.
                guard call.lane == .network else { throw MoveToLane(.network) }
                wait.untilOver()
                return try resuming(call, &result, body)
            }
            wait.whenOver {
                later.resume(on: call.lane) { call, result in try resuming(call, &result, body) }
            }
        }
    }

    private func untilOver() {
        let isOver = Gate(false)
        whenOver {
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        isOver.wait { $0 ? () : nil }
    }
}
