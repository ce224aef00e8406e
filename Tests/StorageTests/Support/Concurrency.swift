import Platform
import Synchronization

/// Runs `body` on `threads` threads at the same time, waits for all of them and throws the first error.
func together(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void) throws {
    let state = ConditionLock((running: threads, failure: (any Error)?.none))
    for thread in 0..<threads {
        _ = Thread.start(name: "test") {
            var failure: (any Error)?
            do { try body(thread) } catch { failure = error }
            state.withLock { $0 = ($0.running - 1, $0.failure ?? failure) }
            state.broadcast()
        }
    }
    let failure: (any Error)? = state.wait { $0.running == 0 ? .some($0.failure) : nil }
    if let failure { throw failure }
}

/// A one-time signal that one thread sends and others wait for.
final class Signal: Sendable {
    private let gate = ConditionLock(false)

    func send() {
        gate.withLock { $0 = true }
        gate.broadcast()
    }

    func wait() { gate.wait { $0 ? () : nil } }

    /// - Returns: Whether the signal was sent within the time.
    func wait(seconds: UInt64) -> Bool { gate.wait(deadline: Monotonic.nanoseconds() + seconds * 1_000_000_000) { $0 ? () : nil } != nil }
}
