import Contract
import Platform
import Synchronization

/// Coordinates refreshes of provider tokens. Two concurrent refreshes would use one refresh token twice, which a provider may treat as
/// theft. A refresh therefore takes a lease in the row of the login, and other refreshes wait. A lease that does not end is taken over,
/// because its process has died.
final class GrantRefreshCoordinator: Sendable {
    private struct Lease {
        let since = Monotonic.nanoseconds()
        /// The time of the virtual clock, in seconds; `nil` outside of testing stores.
        var virtualSince: Int64?
        var isOwn = false
        var waiting: [@Sendable () -> Void] = []
    }

    /// The patience is longer than the timeout of a request to a provider, in seconds.
    private static let patience: Int64 = 20
    private static let pause: UInt64 = 200_000_000
    private let leases = Mutex<[String: Lease]>([:])
    private let alarms: TimerThread

    init(alarms: TimerThread) { self.alarms = alarms }

    func begin(_ lease: String) { leases.withLock { $0[lease] = Lease(isOwn: true) } }

    func end(_ lease: String) {
        for body in leases.withLock({ $0.removeValue(forKey: lease) })?.waiting ?? [] { body() }
    }

    /// Returns the wait for the end of a lease, or `nil` if the lease has been held for too long.
    ///
    /// - Parameter now: The time of the virtual clock, whose advance counts as waiting; `nil` outside of testing stores.
    func wait(for lease: String, virtualNow now: Int64? = nil) -> AwaitedEvent? {
        let isLate = leases.withLock { leases in
            if leases.count >= 1024 { leases = leases.filter { $0.value.isOwn || !Self.isOver($0.value, now) } }
            let known = leases[lease] ?? Lease(virtualSince: now)
            let isLate = !known.isOwn && Self.isOver(known, now)
            leases[lease] = isLate ? nil : known
            return isLate
        }
        return isLate ? nil : AwaitedEvent(isBrief: true) { [self] in whenOver(lease, $0) }
    }

    private static func isOver(_ lease: Lease, _ now: Int64?) -> Bool {
        if let now, let since = lease.virtualSince, now - since > patience { return true }
        return Monotonic.nanoseconds() - lease.since > UInt64(patience) * 1_000_000_000
    }

    /// Runs `body` when this process ends the lease. If another process holds it, runs `body` after a pause.
    private func whenOver(_ lease: String, _ body: @escaping @Sendable () -> Void) {
        let isOwn: Bool? = leases.withLock { leases in
            guard let known = leases[lease] else { return nil }
            if known.isOwn { leases[lease]?.waiting.append(body) }
            return known.isOwn
        }
        switch isOwn {
        case true?: break
        case false?: alarms.afterOrHere(nanoseconds: Self.pause, body)
        case nil: body()
        }
    }
}
