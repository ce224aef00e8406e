import Contract
import Crypto
import Storage

/// What nearly every flow looks up and few change: pools, tenants, roles, keys, revocations, kept in memory for one store epoch.
/// A class, as `Surroundings` is.
public final class Catalogue: Sendable {
    private let pools = EpochCache<String, PoolRecord>()
    private let issuingPools = EpochCache<String, IssuingPool>()
    private let poolRoles = EpochCache<String, [String: String]>()
    private let roles = EpochCache<String, KnownRole>()
    private let tenants = EpochCache<String, TenantRecord>()
    private let idps = EpochCache<[String], IdpRecord>()
    private let revocationList = EpochCache<Int, Revocations>()
    private let storeIds = EpochCache<Int, String>()
    let signingKeys: SigningKeys
    let sessionKeys: SessionKeys

    private let realm: Realm

    public init(vault: Vault, realm: Realm) {
        self.realm = realm
        signingKeys = SigningKeys(vault: vault)
        sessionKeys = SessionKeys(vault: vault)
    }

    /// A role with its trust policy, read once.
    struct KnownRole: Sendable {
        let record: RoleRecord
        let trustPolicy: TrustPolicy
    }

    /// - Throws: `PoolNotFound`.
    func pool(_ id: String, in tx: Transaction) throws -> PoolRecord {
        guard let pool = try pools.value(for: id, in: tx, load: { try tx.pool(id) }) else { throw PoolNotFound(poolId: id) }
        return pool
    }

    /// A pool with the keys that it signs with.
    final class IssuingPool: Sendable {
        let pool: PoolRecord
        private let keys: KeyRing
        /// One for each of `keys`.
        private let issuers: [PoolTokenIssuer]

        init(_ pool: PoolRecord, _ keys: KeyRing, in realm: Realm) {
            self.pool = pool
            self.keys = keys
            let frame = PoolTokenFrame(realm, poolId: pool.id)
            issuers = keys.keys.map { PoolTokenIssuer(frame, $0) }
        }

        /// Whoever signs at `now`.
        ///
        /// - Throws: `PoolNotFound` for a pool that has no key any more.
        func issuer(at now: Int64) throws -> PoolTokenIssuer {
            guard let index = keys.activeIndex(at: now) else { throw PoolNotFound(poolId: pool.id) }
            return issuers[index]
        }
    }

    /// A pool and the keys that it signs with, in one look-up.
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

    /// The pool, nil if there is none.
    func knownPool(_ id: String, in tx: Transaction) throws -> PoolRecord? {
        try pools.value(for: id, in: tx) { try tx.pool(id) }
    }

    /// - Throws: `TenantNotFound`.
    func tenant(_ id: String, in tx: Transaction) throws -> TenantRecord {
        guard let tenant = try knownTenant(id, in: tx) else { throw TenantNotFound(tenantId: id) }
        return tenant
    }

    /// The tenant, nil if there is none.
    func knownTenant(_ id: String, in tx: Transaction) throws -> TenantRecord? {
        try tenants.value(for: id, in: tx) { try tx.tenant(id) }
    }

    /// - Throws: `TenantNotFound`, `IdpNotFound`.
    func idp(_ providerId: String, of tenantId: String, in tx: Transaction) throws -> IdpRecord {
        let tenant = try tenant(tenantId, in: tx)
        let known = try idps.value(for: [tenant.id, providerId], in: tx) { try tx.idp(providerId, of: tenant.id) }
        guard let known else { throw IdpNotFound(tenantId: tenant.id, providerId: providerId) }
        return known
    }

    /// Those of `providers` that people of a tenant can sign in with: they are there and switched on.
    func usableProviders(among providers: [String], of tenantId: String, in tx: Transaction) throws -> [String] {
        try providers.filter { id in
            try idps.value(for: [tenantId, id], in: tx) { try tx.idp(id, of: tenantId) }?.settings.enabled ?? false
        }
    }

    /// The name of the role that a pool gives to identities of `kind`.
    func roleName(_ kind: Identity.State, of poolId: String, in tx: Transaction) throws -> String? {
        let key = kind == .guest ? "unauthenticated" : "authenticated"
        return try poolRoles.value(for: poolId, in: tx) { try tx.poolRoles(poolId) }?[key]
    }

    func role(_ name: String, in tx: Transaction) throws -> KnownRole? {
        try roles.value(for: name, in: tx) {
            guard let record = try tx.role(name) else { return nil }
            return KnownRole(record: record, trustPolicy: try TrustPolicy(parsing: record.trustPolicy))
        }
    }

    /// What tells the store apart from what it was before it was reset.
    func storeId(in tx: Transaction) throws -> String { try storeIds.value(for: 0, in: tx) { try tx.storeFact("id") } ?? "" }

    func revocations(in tx: Transaction) throws -> Revocations {
        try revocationList.value(for: 0, in: tx) { try tx.revocations() } ?? Revocations([])
    }
}
