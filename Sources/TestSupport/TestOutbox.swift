import Accounts
import Contract
import Platform

extension TestService {
    /// The interval at which a waiting call checks the store, in nanoseconds.
    private static let pauseNanoseconds: UInt64 = 20_000_000
    private static let limit = 100

    /// Returns the captured messages, as soon as there is at least one.
    public func outbox(_ request: TestOutbox.Params, _ call: any CallContext) throws -> TestOutbox.Result {
        let deadline = Monotonic.nanoseconds() + UInt64(request.waitSeconds) * 1_000_000_000
        let nobody = ConditionLock(())
        while true {
            let messages = try context.driver.read { try $0.outbox(to: request.to, after: request.after, limit: Self.limit) }
            if messages.isEmpty, call.isCancelled { throw Cancelled() }
            if !messages.isEmpty || Monotonic.nanoseconds() >= deadline {
                if request.clear, !messages.isEmpty {
                    try context.driver.write { tx in for message in messages { try tx.deleteFromOutbox(message.number) } }
                }
                return TestOutbox.Result(messages: messages)
            }
            _ = nobody.wait(deadline: min(deadline, Monotonic.nanoseconds() + Self.pauseNanoseconds)) { _ -> Void? in nil }
        }
    }
}
