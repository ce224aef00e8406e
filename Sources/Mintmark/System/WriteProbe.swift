import Platform
import Storage

/// Tries whether the store takes writes, once a second at most, and on a thread of its own: whoever asks waits for a limited time.
final class WriteProbe: Sendable {
    enum Finding {
        case written
        case failed(any Error)
        /// It has been tried for longer than anybody should wait.
        case waits
    }

    private struct State {
        var isTrying = false
        var last: (at: UInt64, failure: (any Error)?)?
    }

    private let state = Gate(State())
    private static let restNanoseconds: UInt64 = 1_000_000_000
    /// How long `finding` waits, in seconds.
    static let limitSeconds = 2

    /// What the last try has found, or one that begins now.
    func finding(on database: any Database) -> Finding {
        let began = Monotonic.nanoseconds()
        let mustStart = state.withLock { state in
            if state.isTrying { return false }
            if let last = state.last, began &- last.at < Self.restNanoseconds { return false }
            state.isTrying = true
            return true
        }
        // Without a thread it is tried here, where SQLite and PostgreSQL wait for a lock as long as for any other write.
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
