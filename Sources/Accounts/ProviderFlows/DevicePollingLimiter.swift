import Platform
import Synchronization

/// The times at which providers can be polled again for device authorizations.
public final class DevicePollingLimiter: Sendable {
    private let next = Mutex<[String: UInt64]>([:])

    /// Reserves the next poll if the pause has passed. Otherwise returns the remaining nanoseconds.
    func take(_ id: String, pause: UInt64) -> UInt64? {
        let now = Monotonic.nanoseconds()
        return next.withLock { next in
            if let due = next[id], due > now { return due - now }
            if next.count >= 1024 { next = next.filter { $0.value > now } }
            next[id] = now + pause
            return nil
        }
    }
}
