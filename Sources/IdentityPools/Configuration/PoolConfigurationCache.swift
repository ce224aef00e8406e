import Contract
import Crypto
import Platform
import ServiceContext
import SigningKeys
import Storage

/// Pools, roles, revocations and session keys, cached for one store epoch. Almost every request reads them, and few requests change them.
///
/// A class, so that a copy retains one reference.
public final class PoolConfigurationCache: Sendable {
    private let pools = EpochCache<PoolRecord>()
    private let issuingPools = EpochCache<IssuingPool>()
    private let poolRoles = EpochCache<[String: String]>()
    private let roles = EpochCache<KnownRole>()
    private let issuers = EpochCache<KnownIssuer>()
    private let policiesOfRoles = EpochCache<RolePolicySet>()
    private let revocationList = EpochCache<Revocations>()
    private let storeIds = EpochCache<String>()
    package let signingKeys: SigningKeys
    let sessionKeys: SessionKeys
    /// The tenants of the store, which can be login providers.
    let tenants: any TenantLogins

    private let realm: Deployment

    public init(signingKeys: SigningKeys, tenants: any TenantLogins, vault: Vault, realm: Deployment) {
        self.realm = realm
        self.signingKeys = signingKeys
        self.tenants = tenants
        sessionKeys = SessionKeys(vault: vault)
    }

    /// A role with its parsed trust policy.
    struct KnownRole: Sendable {
        let record: RoleRecord
        let trustPolicy: TrustPolicy
    }

    /// - Throws: `PoolNotFound`.
    func pool(_ id: String, in tx: Transaction) throws -> PoolRecord {
        guard let pool = try pools.value(for: id, in: tx, load: { try tx.pool(id) }) else { throw PoolNotFound(poolId: id) }
        return pool
    }

    /// A pool with its signing keys.
    final class IssuingPool: Sendable {
        let pool: PoolRecord
        private let keys: KeyRing
        /// The issuers, one for each of `keys`.
        private let issuers: [PoolTokenIssuer]

        init(_ pool: PoolRecord, _ keys: KeyRing, in realm: Deployment) {
            self.pool = pool
            self.keys = keys
            let frame = PoolTokenFrame(realm, poolId: pool.id)
            issuers = keys.keys.map { PoolTokenIssuer(frame, $0) }
        }

        /// Returns the issuer with the key that is active at `now`.
        ///
        /// - Throws: `PoolNotFound` if the pool has no keys.
        func issuer(at now: Int64) throws -> PoolTokenIssuer {
            guard let index = keys.activeIndex(at: now) else { throw PoolNotFound(poolId: pool.id) }
            return issuers[index]
        }
    }

    /// Returns a pool with its signing keys, in one lookup.
    ///
    /// - Throws: `PoolNotFound`.
    func issuingPool(_ id: String, in tx: Transaction) throws -> IssuingPool {
        let known = try issuingPools.value(for: id, in: tx) {
            guard let pool = try tx.pool(id) else { return nil }
            return IssuingPool(pool, try signingKeys.ring(of: .pool(id), in: tx), in: realm)
        }
        guard let known else { throw PoolNotFound(poolId: id) }
        return known
    }

    /// Returns the pool, or `nil` if it does not exist.
    func knownPool(_ id: String, in tx: Transaction) throws -> PoolRecord? {
        try pools.value(for: id, in: tx) { try tx.pool(id) }
    }

    /// Returns the name of the role that a pool assigns to identities of this kind.
    func roleName(_ kind: Identity.State, of poolId: String, in tx: Transaction) throws -> String? {
        let key = kind == .guest ? "unauthenticated" : "authenticated"
        return try poolRoles.value(for: poolId, in: tx) { try tx.poolRoles(poolId) }?[key]
    }

    func role(_ name: String, in tx: Transaction) throws -> KnownRole? {
        try roles.value(for: name, in: tx) {
            guard let record = try tx.role(name) else { return nil }
            return KnownRole(record: record, trustPolicy: try TrustPolicy(stored: record.trustPolicy))
        }
    }

    /// Returns the trusted issuer with this `iss`, or `nil` if there is none.
    func trustedIssuer(_ issuer: String, in tx: Transaction) throws -> KnownIssuer? {
        let name = TrustedIssuerRules.strip(issuer)
        let known = try issuers.value(for: name, in: tx) {
            try tx.trustedIssuer(name).map { try KnownIssuer($0, in: realm) }
        }
        guard let known, known.issuer.hasBytes(of: issuer) else { return nil }
        return known
    }

    /// Returns the permission policies of a role.
    func policies(ofRole name: String, in tx: Transaction) throws -> RolePolicySet {
        try policiesOfRoles.value(for: name, in: tx) { try tx.policies(ofRole: name) } ?? RolePolicySet()
    }

    /// Returns the ID that distinguishes the store from its state before a reset.
    func storeId(in tx: Transaction) throws -> String { try storeIds.value(in: tx) { try tx.storeFact("id") } ?? "" }

    func revocations(in tx: Transaction) throws -> Revocations {
        try revocationList.value(in: tx) { try tx.revocations() } ?? Revocations([])
    }
}
