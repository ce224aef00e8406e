import Crypto
import Platform
import Storage
import Synchronization

/// The dependencies of every service: store, clock, randomness, keys, names and audit log.
///
/// A class, so that a copy retains one reference. A struct would retain each member, with reference counts that all threads share.
public final class ServiceContext: Sendable {
    public let realm: Deployment
    public let database: any Database
    /// The database without injected faults, for the testing methods themselves and for maintenance.
    package var driver: any Database { database.driver }
    /// The faults that a test has injected into this process, or `nil` if the store is not a testing store.
    public let faults: Faults?
    public let clock: any WallClock
    public let random: any RandomSource
    public let vault: Vault
    /// Whether the store is a testing store, which can have a seed.
    package let isTesting: Bool
    package let audit: AuditLog
    private let positions = Positions()
    /// Whether minting a token for a known identity is also audited.
    public let auditsIssuance: Bool
    /// The client for external login providers and identity providers.
    public let foreign: any LoginProviderClient

    public init(
        realm: Deployment, database: any Database, clock: any WallClock, random: any RandomSource, vault: Vault, isTesting: Bool = false,
        faults: Faults? = nil, auditsIssuance: Bool = false, foreign: any LoginProviderClient = NoLoginProviderClient()
    ) {
        self.realm = realm
        self.database = database
        self.faults = faults
        self.clock = clock
        self.random = random
        self.vault = vault
        self.isTesting = isTesting
        self.audit = AuditLog(key: vault.subkey("audit"), isTesting: isTesting)
        self.auditsIssuance = auditsIssuance
        self.foreign = foreign
    }

    /// Returns a new identifier of the form `<region>:<uuid>`.
    package func newIdentifier() -> String { "\(realm.region):\(random.uuid())" }

    /// Returns a new identity ID. Its UUID begins with the time (RFC 9562, version 7), so identities created together are adjacent in every
    /// index. Insertion therefore stays fast in large stores.
    package func newIdentityId(at now: Int64) -> String { "\(realm.region):\(random.uuid(at: now, position: positions.next(in: now)))" }
}

/// Numbers the identities created within one second.
package final class Positions: Sendable {
    private let state = Mutex((second: Int64(0), count: 0))

    package init() {}

    package func next(in second: Int64) -> Int {
        state.withLock { state in
            if state.second != second { state = (second, 0) }
            defer { state.count += 1 }
            return state.count
        }
    }
}
