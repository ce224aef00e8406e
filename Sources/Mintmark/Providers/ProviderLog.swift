import Logging
import Network
import Platform
import Synchronization

/// Logs when the keys of a provider cannot be fetched, and when they are available again. The same failure of a provider is logged at most
/// once per minute, for at most 256 providers at a time.
final class ProviderLog: Sendable {
    private struct Trouble {
        var failure: IssuerFailure
        var loggedAt: UInt64
        var unlogged = 0
    }

    private static let (pause, capacity): (UInt64, Int) = (60_000_000_000, 256)
    private let log: Logger
    private let troubles = Mutex<[String: Trouble]>([:])

    init(_ log: Logger) { self.log = log }

    /// Records the outcome of a request to `issuer`.
    func asked(_ issuer: String, _ failure: IssuerFailure?) {
        guard let failure else {
            if troubles.withLock({ $0.removeValue(forKey: issuer) }) != nil {
                log.notice("the keys of a provider are available again", metadata: ["issuer": "\(issuer)"])
            }
            return
        }
        let now = Monotonic.nanoseconds()
        let unlogged: Int? = troubles.withLock { troubles in
            if var known = troubles[issuer], known.failure == failure, now < known.loggedAt + Self.pause {
                known.unlogged += 1
                troubles[issuer] = known
                return nil
            }
            guard troubles[issuer] != nil || troubles.count < Self.capacity else { return nil }
            let unlogged = troubles[issuer]?.unlogged ?? 0
            troubles[issuer] = Trouble(failure: failure, loggedAt: now)
            return unlogged
        }
        guard let unlogged else { return }
        log.warning(
            "the keys of a provider could not be fetched",
            metadata: [
                "issuer": "\(issuer)", "check": "\(failure.check.rawValue)", "reason": "\(failure.reason)", "notLogged": "\(unlogged)",
            ])
    }
}
