import Platform
import Synchronization

/// What this process knows of the store's epoch. Whoever advances it notifies every connection, and a process that was notified
/// reads the row again. Because a notification may be lost on its way (a proxy, a server that only follows), the row is read again as
/// well when what was read is older than three quarters of a second: with the round trips a change is seen everywhere within one.
final class StoreEpoch: Sendable {
    private struct State {
        var known: (epoch: Int64, readAt: UInt64)?
        /// Counts how often what was known has ceased to hold.
        var generation = 0
    }

    private let state = Mutex(State())
    private let lastMark = Atomic<Int64>(-1)
    private static let freshNanoseconds: UInt64 = 750_000_000

    /// What is known before a transaction begins. Because it was read before, nothing that the transaction reads can be older.
    struct Glance {
        let epoch: Int64?
        fileprivate let generation: Int
        fileprivate let at: UInt64
    }

    func glance() -> Glance {
        let now = Monotonic.nanoseconds()
        return state.withLock { state in
            let known = state.known.flatMap { now - $0.readAt < Self.freshNanoseconds ? $0.epoch : nil }
            return Glance(epoch: known, generation: state.generation, at: now)
        }
    }

    /// Keeps what a transaction has read that began with `glance`, unless the epoch was advanced since.
    func keep(_ epoch: Int64, since glance: Glance) {
        state.withLock { state in
            guard state.generation == glance.generation, state.known.map({ $0.readAt < glance.at }) ?? true else { return }
            state.known = (epoch, glance.at)
        }
    }

    /// The epoch was advanced, or may have been: what this process knew holds no more.
    func forget() {
        state.withLock { state in
            state.known = nil
            state.generation += 1
        }
    }

    /// A number below zero that was never answered before.
    func newMark() -> Int64 { lastMark.wrappingSubtract(1, ordering: .relaxed).newValue }
}
