import Crypto
import Platform
import Storage
import Synchronization

/// What every flow is given: the store, time, randomness, keys, names and the audit log.
///
/// A class, so that passing it on copies one reference: the parts of a struct would be counted one by one, by all threads.
public final class ServiceContext: Sendable {
    public let realm: Realm
    public let database: any Database
    /// The database without injected faults: for the testing methods themselves, and for maintenance.
    package var driver: any Database { database.driver }
    /// The faults that a test injects into this process; nil outside of testing stores.
    public let faults: Faults?
    public let clock: any WallClock
    public let random: any RandomSource
    public let vault: Vault
    /// Whether the store is a testing store, which can have a seed.
    package let isTesting: Bool
    package let audit: AuditLog
    private let positions = Positions()
    /// Whether minting a token for a known identity is audited, too.
    public let auditsIssuance: Bool
    /// Login providers and identity providers outside of this process.
    public let foreign: any ForeignProviders

    public init(
        realm: Realm, database: any Database, clock: any WallClock, random: any RandomSource, vault: Vault, isTesting: Bool = false,
        faults: Faults? = nil, auditsIssuance: Bool = false, foreign: any ForeignProviders = NoForeignProviders()
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

    /// A new `<region>:<uuid>` identifier (cognito.md 1.2).
    package func newIdentifier() -> String { "\(realm.region):\(random.uuid())" }

    /// A new identity's id (cognito.md 1.3), whose UUID begins with the time (RFC 9562, version 7): identities of one time lie
    /// together in every index, so that a million of them cost a new one no more than a thousand do.
    package func newIdentityId(at now: Int64) -> String { "\(realm.region):\(random.uuid(at: now, position: positions.next(in: now)))" }
}

/// Counts within seconds.
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
