import Platform
import Synchronization

/// Passes on that something was recorded. Whoever wants to know says so once.
package final class AuditWatch: Sendable {
    private let listener = Mutex<Held<(@Sendable (Int64) -> Void)?>>(Held(nil))

    /// - Parameter listener: is called inside transactions, with the record's time: be quick.
    package func tell(_ listener: @escaping @Sendable (Int64) -> Void) { self.listener.withLock { $0.closure = listener } }

    func noteRecord(at now: Int64) { listener.withLock { $0 }.closure?(now) }
}
