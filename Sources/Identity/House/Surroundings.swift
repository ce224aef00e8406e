import Crypto
import Platform
import Storage
import Synchronization

/// The outside, handed in: everything that a flow needs and does not decide. A class: every call passes it on, and the parts of a
/// value would be counted one by one, by all threads at the same places.
public final class Surroundings: Sendable {
    public let realm: Realm
    public let database: any Database
    /// The database itself, for what a test does to its store and for what goes on behind its back: no fault meets these.
    let driver: any Database
    /// What a test makes fail in this process; nil outside of testing stores.
    public let faults: Faults?
    public let clock: any WallClock
    public let random: any RandomSource
    public let vault: Vault
    /// Whether the store is a testing store, which may have a seed.
    let isTesting: Bool
    let audit: AuditLog
    private let positions = Positions()
    /// Whether minting for a known identity leaves an audit record too.
    public let auditsIssuance: Bool
    /// Login providers elsewhere.
    public let foreign: any ForeignProviders
    /// Where messages to people go.
    public let delivery: Delivery
    /// Who knows passwords that have leaked; nil: nobody can be asked.
    let breachedPasswords: (any BreachedPasswordLookup)?
    let passwords: PasswordHasher
    let alarms = Alarms()
    /// Who takes people back from their providers.
    public let callbacks: CallbackListener
    let deviceTurns = DeviceTurns()
    let grantRefreshes: GrantRefreshes

    public init(
        realm: Realm, database: any Database, clock: any WallClock, random: any RandomSource, vault: Vault, isTesting: Bool = false,
        faults: Faults? = nil, auditsIssuance: Bool = false,
        foreign: any ForeignProviders = NoForeignProviders(), delivery: Delivery = .none,
        breachedPasswords: (any BreachedPasswordLookup)? = nil, passwordCost: Int = PasswordHasher.cost
    ) {
        self.realm = realm
        self.database = database
        driver = database.driver
        self.faults = faults
        self.clock = clock
        self.random = random
        self.vault = vault
        self.isTesting = isTesting
        self.audit = AuditLog(key: vault.subkey("audit"), isTesting: isTesting)
        self.auditsIssuance = auditsIssuance
        self.foreign = foreign
        self.delivery = delivery
        self.breachedPasswords = breachedPasswords
        callbacks = CallbackListener(alarms: alarms)
        grantRefreshes = GrantRefreshes(alarms: alarms)
        passwords = PasswordHasher(cost: passwordCost, vault: vault, random: random)
    }

    /// A new `<region>:<uuid>` identifier (cognito.md 1.2).
    func newIdentifier() -> String { "\(realm.region):\(random.uuid())" }

    /// A new identity's id (cognito.md 1.3), whose UUID begins with the time (RFC 9562, version 7): identities of one time lie
    /// together in every index, so that a million of them cost a new one no more than a thousand do.
    func newIdentityId(at now: Int64) -> String { "\(realm.region):\(random.uuid(at: now, position: positions.next(in: now)))" }
}

/// Counts within seconds.
private final class Positions: Sendable {
    private let state = Mutex((second: Int64(0), count: 0))

    func next(in second: Int64) -> Int {
        state.withLock { state in
            if state.second != second { state = (second, 0) }
            defer { state.count += 1 }
            return state.count
        }
    }
}
