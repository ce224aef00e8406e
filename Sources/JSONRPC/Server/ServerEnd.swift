import Glibc
import Platform
import Synchronization

/// The reason a server ended.
public enum ServerEnding: Sendable, Equatable {
    /// The input has ended, and all responses are sent.
    case inputEnded
    /// A signal arrived, the parent process ended, or the output has no reader.
    case told
    /// The input cannot be read; the value is the `errno`. Earlier requests got their responses.
    case inputUnreadable(Int32)
    /// Responses cannot be written; the value is the `errno`. Some responses are lost.
    case outputUnwritable(Int32)
}

/// Ends a server once, even if several threads start the shutdown.
final class ServerEnd: Sendable {
    private enum Phase { case serving, ending, over }

    private let phase = ConditionLock(Phase.serving)
    private let begun = Atomic(false)
    /// Whether a thread waits, or has waited, for pending work.
    private let isAwaited = Atomic(false)
    private let ending = Mutex(ServerEnding.told)
    private let onEnd: @Sendable (ServerEnding) -> Void
    private let drain = Mutex<ClosureBox<(@Sendable () -> Void)?>>(ClosureBox(nil))

    init(_ onEnd: @escaping @Sendable (ServerEnding) -> Void) { self.onEnd = onEnd }

    /// Sets the closure that drains the server.
    func prepare(_ drain: @escaping @Sendable () -> Void) { self.drain.withLock { $0.closure = drain } }

    /// Whether the shutdown has started for a reason other than the end of the input.
    var hasBegun: Bool { begun.load(ordering: .acquiring) }

    /// Starts the shutdown. Returns immediately.
    func begin() {
        guard !begun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        stir()
        let drain = self.drain.withLock { $0 }.closure
        if !Thread.start(name: "end", { drain?() }) { drain?() }
    }

    /// Starts the shutdown because the output can no longer be written; `reason` is the `errno`.
    func outputBroke(_ reason: Int32) {
        // A closed connection is the usual end of a session.
        if reason != EPIPE, reason != ECONNRESET { note(.outputUnwritable(reason)) }
        begin()
    }

    /// Records the reason for the end, unless an unwritable output was recorded before.
    func note(_ reason: ServerEnding) {
        ending.withLock { if case .outputUnwritable = $0 {} else { $0 = reason } }
    }

    /// Wakes waiting threads after a response was completed or sent, so that they check their condition again.
    ///
    /// Must be called after the change, without holding a lock that a waiter's condition takes.
    func stir() {
        guard isAwaited.load(ordering: .sequentiallyConsistent) else { return }
        // This gate does not protect the changed state. Taking its lock prevents a lost wakeup between a waiter's check and its sleep.
        phase.withLock { _ in }
        phase.broadcast()
    }

    /// Waits until `condition` holds. Returns `false` if the deadline passes first.
    func wait(deadline: UInt64?, until condition: () -> Bool) -> Bool {
        isAwaited.store(true, ordering: .sequentiallyConsistent)
        guard let deadline else { return phase.wait { _ in condition() ? true : nil } }
        return phase.wait(deadline: deadline) { _ in condition() ? true : nil } ?? false
    }

    func finish() {
        let isFirst = phase.withLock { phase in
            defer { phase = .ending }
            return phase == .serving
        }
        guard isFirst else { return waitUntilOver() }
        onEnd(ending.withLock { $0 })
        phase.withLock { $0 = .over }
        phase.broadcast()
    }

    func waitUntilOver() { phase.wait { $0 == .over ? () : nil } }
}
