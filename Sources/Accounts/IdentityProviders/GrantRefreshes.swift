import Contract
import Platform
import Synchronization

/// Who refreshes which provider's tokens at this moment. Two at once would spend one refresh token twice, and a provider may take
/// that for a theft; so whoever refreshes has a lease in the login's row, and others wait. A lease that does not end is taken over:
/// its process has died.
final class GrantRefreshes: Sendable {
    private struct Lease {
        let since = Monotonic.nanoseconds()
        var isOwn = false
        var waiting: [@Sendable () -> Void] = []
    }

    /// Longer than a provider is waited for.
    private static let (patience, pause): (UInt64, UInt64) = (20_000_000_000, 200_000_000)
    private let leases = Mutex<[String: Lease]>([:])
    private let alarms: Alarms

    init(alarms: Alarms) { self.alarms = alarms }

    func begin(_ lease: String) { leases.withLock { $0[lease] = Lease(isOwn: true) } }

    func end(_ lease: String) {
        for body in leases.withLock({ $0.removeValue(forKey: lease) })?.waiting ?? [] { body() }
    }

    /// The wait for whoever has a lease; nil if they have had it for too long.
    func wait(for lease: String) -> AwaitsPeople? {
        let isLate = leases.withLock { leases in
            if leases.count >= 1024 { leases = leases.filter { $0.value.isOwn || !Self.isOver($0.value) } }
            let known = leases[lease] ?? Lease()
            let isLate = !known.isOwn && Self.isOver(known)
            leases[lease] = isLate ? nil : known
            return isLate
        }
        return isLate ? nil : AwaitsPeople(isBrief: true) { [self] in whenOver(lease, $0) }
    }

    private static func isOver(_ lease: Lease) -> Bool { Monotonic.nanoseconds() - lease.since > patience }

    /// Runs `body` when this process has ended the lease, or after a while.
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
