import Glibc
import Platform
import Synchronization

/// Why a server came to its end.
public enum ServerEnding: Sendable, Equatable {
    /// The input has ended, and everything in it is answered.
    case inputEnded
    /// A signal came, the parent is gone, or nobody reads the answers any more.
    case told
    /// The input cannot be read, for this reason. What was read before is answered.
    case inputUnreadable(Int32)
    /// The answers cannot be written, for this reason: some are lost.
    case outputUnwritable(Int32)
}

/// How a server comes to its end, once, whoever starts it.
final class ServerEnd: Sendable {
    private enum Phase { case serving, ending, over }

    private let phase = Gate(Phase.serving)
    private let begun = Atomic(false)
    /// Whether anybody waits, or has waited, for what is unfinished.
    private let isAwaited = Atomic(false)
    private let ending = Mutex(ServerEnding.told)
    private let onEnd: @Sendable (ServerEnding) -> Void
    private let drain = Mutex<Held<(@Sendable () -> Void)?>>(Held(nil))

    init(_ onEnd: @escaping @Sendable (ServerEnding) -> Void) { self.onEnd = onEnd }

    /// Says how to drain.
    func prepare(_ drain: @escaping @Sendable () -> Void) { self.drain.withLock { $0.closure = drain } }

    /// Whether the server is ending, without waiting for its input to end.
    var hasBegun: Bool { begun.load(ordering: .acquiring) }

    /// Ends the server. Returns at once.
    func begin() {
        guard !begun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        stir()
        let drain = self.drain.withLock { $0 }.closure
        if !Thread.start(name: "end", { drain?() }) { drain?() }
    }

    /// Nothing can be written any more, for this reason.
    func outputBroke(_ reason: Int32) {
        // A host that goes away is the usual end of a session.
        if reason != EPIPE, reason != ECONNRESET { note(.outputUnwritable(reason)) }
        begin()
    }

    /// Says why the server ends, unless there was a graver reason before.
    func note(_ reason: ServerEnding) {
        ending.withLock { if case .outputUnwritable = $0 {} else { $0 = reason } }
    }

    /// Something was answered or sent: whoever waits looks again.
    ///
    /// Called after the change, and with no lock held that a waiter's condition takes.
    func stir() {
        guard isAwaited.load(ordering: .sequentiallyConsistent) else { return }
        // What changed is not behind this gate: without its lock, one who has looked and does not sleep yet would miss the call.
        phase.withLock { _ in }
        phase.broadcast()
    }

    /// Waits until `condition` holds. Answers false when the deadline comes first.
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
