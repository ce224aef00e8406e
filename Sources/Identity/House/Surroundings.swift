import Crypto
import Platform
import Storage

/// The outside, handed in: everything that a flow needs and does not decide.
public struct Surroundings: Sendable {
    public let realm: Realm
    public let database: any Database
    public let clock: any WallClock
    public let random: any RandomSource
    public let vault: Vault
    let audit: AuditLog
    /// Whether minting for a known identity leaves an audit record too.
    public let auditsIssuance: Bool

    public init(
        realm: Realm, database: any Database, clock: any WallClock, random: any RandomSource, vault: Vault, auditsIssuance: Bool = false
    ) {
        self.realm = realm
        self.database = database
        self.clock = clock
        self.random = random
        self.vault = vault
        self.audit = AuditLog(key: vault.subkey("audit"))
        self.auditsIssuance = auditsIssuance
    }

    /// A new `<region>:<uuid>` identifier (cognito.md 1.2, 1.3).
    func newIdentifier() -> String { "\(realm.region):\(random.uuid())" }
}
