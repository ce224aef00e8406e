import Platform
import Storage

/// Checks whether the store accepts writes, at most once per second. The check runs on a separate thread, so that callers wait only for a
/// limited time.
final class WriteProbe: Sendable {
    enum Finding {
        case written
        case failed(any Error)
        /// The check has taken longer than the time limit.
        case waits
    }

    private struct State {
        var isTrying = false
        var last: (at: UInt64, failure: (any Error)?)?
    }

    private let state = ConditionLock(State())
    private static let restNanoseconds: UInt64 = 1_000_000_000
    /// The maximum time that `finding` waits, in seconds.
    static let limitSeconds = 2

    /// Returns the result of the latest check, or of a new one if it is outdated.
    func finding(on database: any Database) -> Finding {
        let began = Monotonic.nanoseconds()
        let mustStart = state.withLock { state in
            if state.isTrying { return false }
            if let last = state.last, began &- last.at < Self.restNanoseconds { return false }
            state.isTrying = true
            return true
        }
        // If no thread can be started, the check runs here. SQLite and PostgreSQL then wait for a lock as long as for any other write.
        if mustStart, !Thread.start(name: "health", { self.tryOnce(on: database) }) { tryOnce(on: database) }
        let deadline = began + UInt64(Self.limitSeconds) * 1_000_000_000
        guard let last = state.wait(deadline: deadline, until: { $0.isTrying ? nil : $0.last }) else { return .waits }
        return last.failure.map { .failed($0) } ?? .written
    }

    private func tryOnce(on database: any Database) {
        var failure: (any Error)?
        do { try database.tryToWrite() } catch { failure = error }
        let last = (Monotonic.nanoseconds(), failure)
        state.withLock { state in
            state.isTrying = false
            state.last = last
        }
        state.broadcast()
    }
}
