import Platform
import Synchronization

/// How a server comes to its end, once, whoever starts it.
final class ServerEnd: Sendable {
    private enum Phase { case serving, ending, over }

    private let phase = Gate(Phase.serving)
    private let begun = Atomic(false)
    private let onEnd: @Sendable (Int32) -> Void
    private let drain = Mutex<Held<(@Sendable () -> Void)?>>(Held(nil))

    init(_ onEnd: @escaping @Sendable (Int32) -> Void) { self.onEnd = onEnd }

    /// Says how to drain.
    func prepare(_ drain: @escaping @Sendable () -> Void) { self.drain.withLock { $0.closure = drain } }

    /// Whether the server is ending, without waiting for its input to end.
    var hasBegun: Bool { begun.load(ordering: .acquiring) }

    /// Ends the server. Returns at once.
    func begin() {
        guard !begun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let drain = self.drain.withLock { $0 }.closure
        Thread.start(name: "end") { drain?() }
    }

    /// Nobody reads the answers any more.
    func outputBroke() { begin() }

    /// Something was answered or sent: whoever waits looks again.
    func stir() { phase.broadcast() }

    /// Waits until `condition` holds. Answers false when the deadline comes first.
    func wait(deadline: UInt64?, until condition: () -> Bool) -> Bool {
        guard let deadline else { return phase.wait { _ in condition() ? true : nil } }
        return phase.wait(deadline: deadline) { _ in condition() ? true : nil } ?? false
    }

    func finish() {
        let isFirst = phase.withLock { phase in
            defer { phase = .ending }
            return phase == .serving
        }
        guard isFirst else { return waitUntilOver() }
        onEnd(0)
        phase.withLock { $0 = .over }
        phase.broadcast()
    }

    func waitUntilOver() { phase.wait { $0 == .over ? () : nil } }
}
