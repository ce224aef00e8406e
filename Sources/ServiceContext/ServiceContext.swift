import Contract
import Crypto
import Platform
import Storage

/// The dependencies of every service: store, clock, randomness, keys, names and audit log.
///
/// A class, so that a copy retains one reference. A struct would retain each member, with reference counts that all threads share.
public final class ServiceContext: Sendable {
    public let realm: Deployment
    /// The store, with the access of the call for which this context is.
    public let database: StoreHandle
    /// The database without injected faults, for the testing methods themselves and for maintenance.
    package var driver: any Database { database.driver }
    /// The faults that a test has injected into this process, or `nil` if the store is not a testing store.
    public let faults: Faults?
    public let clock: any WallClock
    public let random: any RandomSource
    public let vault: Vault
    package let audit: AuditLog
    private let positions: Positions
    /// The client for external login providers and identity providers.
    public let foreign: any LoginProviderClient

    /// - Parameter auditsIssuance: Whether minting a token for a known identity is also audited.
    public init(
        realm: Deployment, database: any Database, vault: Vault, environment: ServiceEnvironment = ServiceEnvironment(),
        auditsIssuance: Bool = false
    ) {
        self.realm = realm
        self.database = StoreHandle(database, .patient)
        faults = environment.faults
        clock = environment.clock
        random = environment.random
        self.vault = vault
        self.audit = AuditLog(key: vault.subkey("audit"), isTesting: environment.faults != nil, recordsIssuance: auditsIssuance)
        foreign = environment.foreign
        positions = Positions()
    }

    /// - Parameter access: The access to the store for one call.
    private init(_ context: ServiceContext, _ access: StoreAccess) {
        realm = context.realm
        database = context.database.with(access)
        faults = context.faults
        clock = context.clock
        random = context.random
        vault = context.vault
        audit = context.audit
        foreign = context.foreign
        positions = context.positions
    }

    /// Whether the store is a testing store, which can have a seed.
    package var isTesting: Bool { faults != nil }

    /// Returns this context for one call, whose transactions have its access to the store.
    package func scoped(to call: any CallContext) -> ServiceContext {
        let access = call.storeAccess
        return access.isPatient && database.access.isPatient ? self : ServiceContext(self, access)
    }

    /// Returns a new identifier of the form `<region>:<uuid>`.
    package func newIdentifier() -> String { "\(realm.region):\(random.uuid())" }

    /// Returns a new identity ID. Its UUID begins with the time (RFC 9562, version 7), so identities created together are adjacent in every
    /// index. Insertion therefore stays fast in large stores.
    package func newIdentityId(at now: Int64) -> String { "\(realm.region):\(random.uuid(at: now, position: positions.next(in: now)))" }
}

/// The sources of time, randomness and external keys of the services. A testing store controls them.
public struct ServiceEnvironment: Sendable {
    public var clock: any WallClock
    public var random: any RandomSource
    /// The client for external login providers and identity providers.
    public var foreign: any LoginProviderClient
    /// The injected faults of a testing store, even if there are none; `nil` if the store is not a testing store.
    public var faults: Faults?

    public init(
        clock: any WallClock = SystemClock(), random: any RandomSource = SystemRandom(),
        foreign: any LoginProviderClient = NoLoginProviderClient(), faults: Faults? = nil
    ) {
        self.clock = clock
        self.random = random
        self.foreign = foreign
        self.faults = faults
    }
}

extension ServiceContext {
    /// Returns a key for one purpose that is derived from the seed of a testing store, or `nil` without a seed. Must not be called inside a
    /// transaction.
    package func seededKey(_ purpose: String) -> SecretBytes? {
        guard isTesting, let seed = try? driver.read({ try $0.seed() }) else { return nil }
        return SecretBytes(SeededRandomGenerator.bytes(32, of: seed, for: purpose))
    }
}
