import Platform
import Synchronization

/// The store's epoch as this process last read it. A transaction that advances the epoch notifies every connection, and a notified process
/// reads the row again. A notification can be lost (behind a proxy, or on a standby server). The row is therefore also read again if the
/// value is older than 0.75 seconds. Including round trips, every process sees a change within one second.
final class StoreEpoch: Sendable {
    private struct State {
        var known: (epoch: Int64, readAt: UInt64)?
        /// Counts the invalidations of `known`.
        var generation = 0
    }

    private let state = UnfairLock(State())
    private let lastMark = Atomic<Int64>(-1)
    private static let freshNanoseconds: UInt64 = 750_000_000

    /// The cached state before a transaction begins. It was read earlier, so no data that the transaction reads is older.
    struct EpochSnapshot {
        let epoch: Int64?
        fileprivate let generation: Int
        fileprivate let at: UInt64
    }

    func glance() -> EpochSnapshot {
        let now = Monotonic.nanoseconds()
        return state.withLock { state in
            let known = state.known.flatMap { now - $0.readAt < Self.freshNanoseconds ? $0.epoch : nil }
            return EpochSnapshot(epoch: known, generation: state.generation, at: now)
        }
    }

    /// Stores the epoch that a transaction read which began with `glance`, unless the epoch was advanced in between.
    func keep(_ epoch: Int64, since glance: EpochSnapshot) {
        state.withLock { state in
            guard state.generation == glance.generation, state.known.map({ $0.readAt < glance.at }) ?? true else { return }
            state.known = (epoch, glance.at)
        }
    }

    /// Discards the cached epoch, because it was or may have been advanced.
    func forget() {
        state.withLock { state in
            state.known = nil
            state.generation += 1
        }
    }

    /// Returns a negative number that has not been returned before.
    func newMark() -> Int64 { lastMark.wrappingSubtract(1, ordering: .relaxed).newValue }
}
