import Synchronization

/// Passes on that something was recorded. Whoever wants to know says so once.
final class AuditWatch: Sendable {
    /// A type of its own: a closure that a generic type holds by itself is wrapped once more each time it is taken out, and the
    /// wrappings of ten thousand records are deeper than a thread's stack.
    private struct Listener: Sendable {
        let noteRecord: @Sendable (Int64) -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    /// - Parameter listener: is called inside transactions, with the record's time: be quick.
    func tell(_ listener: @escaping @Sendable (Int64) -> Void) { self.listener.withLock { $0 = Listener(noteRecord: listener) } }

    func noteRecord(at now: Int64) { listener.withLock { $0 }?.noteRecord(now) }
}
