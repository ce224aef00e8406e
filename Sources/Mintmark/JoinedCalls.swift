import Contract
import JSON
import JSONRPC
import Platform

extension AnsweredByOther {
    private typealias Outcome = Swift.Result<any ContractResult, any Error>

    /// Gives `call` the result that the other call computes.
    func answer(_ call: Call, _ result: inout JSONWriter) throws {
        if let later = try? call.answerLater() {
            whenDone { outcome in
                later.resume(on: call.lane) { _, result in try Self.write(outcome, to: &result) }
            }
        } else {
            // Too many calls are waiting, so this call blocks a thread.
            guard call.lane != .compute else { throw MoveToLane(.store) }
            try Self.write(outcome(), to: &result)
        }
    }

    private func outcome() -> Outcome {
        let gate = ConditionLock<Outcome?>(nil)
        whenDone { outcome in
            gate.withLock { $0 = outcome }
            gate.signal()
        }
        return gate.wait { $0 }
    }

    /// If the other call moved to another lane or was canceled, there is no outcome to share. `call` then runs again and computes the
    /// result or joins another call.
    private static func write(_ outcome: Outcome, to result: inout JSONWriter) throws {
        do { try outcome.get().write(to: &result) } catch {
            guard let known = contractError(error) else { throw error as? MoveToLane ?? MoveToLane(.store) }
            throw Answer(known)
        }
    }
}
