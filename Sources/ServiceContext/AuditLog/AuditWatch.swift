import Platform

/// Notifies one listener of every audit record.
package final class AuditWatch: Sendable {
    private let listener = UnfairLock<ClosureBox<(@Sendable (Int64) -> Void)?>>(ClosureBox(nil))

    /// - Parameter listener: Called in the transaction with the time of the record. It must return quickly.
    package func tell(_ listener: @escaping @Sendable (Int64) -> Void) { self.listener.withLock { $0.closure = listener } }

    func noteRecord(at now: Int64) { listener.withLock { $0 }.closure?(now) }
}
