import Storage

/// The key under which an identity ID is stored.
struct ProviderKey: Hashable, Sendable {
    let poolId: String
    let key: String

    /// The name of the lock for storing or removing the identity.
    var lockName: String { "provider/\(poolId)/\(key)" }
}

extension Transaction {
    /// Returns the stored identity.
    func keptIdentity(_ key: ProviderKey) throws -> Identity? {
        try queryOne(
            """
            SELECT i.id, i.pool_id, i.state, i.created_at, i.updated_at
            FROM provider_identity p JOIN identity i ON i.id = p.identity_id WHERE p.pool_id = $1 AND p.provider_key = $2
            """, key.poolId, key.key, row: Identity.init)
    }

    /// Stores an identity ID and replaces the stored one. An identity that no longer exists is not stored.
    func keep(_ identityId: String, as key: ProviderKey, at now: Int64) throws {
        try execute(
            """
            INSERT INTO provider_identity (pool_id, provider_key, identity_id, kept_at)
            SELECT i.pool_id, $2, i.id, $4 FROM identity i WHERE i.id = $3 AND i.pool_id = $1
            ON CONFLICT (pool_id, provider_key) DO UPDATE SET identity_id = excluded.identity_id, kept_at = excluded.kept_at
            """, key.poolId, key.key, identityId, now)
    }

    /// Stores an identity ID if none is stored, or if the stored one is `replaced`.
    ///
    /// - Returns: `false` if another identity is stored.
    func keep(_ identityId: String, as key: ProviderKey, insteadOf replaced: String?, at now: Int64) throws -> Bool {
        try execute(
            """
            INSERT INTO provider_identity (pool_id, provider_key, identity_id, kept_at)
            SELECT i.pool_id, $2, i.id, $4 FROM identity i WHERE i.id = $3 AND i.pool_id = $1
            ON CONFLICT (pool_id, provider_key) DO UPDATE SET identity_id = excluded.identity_id, kept_at = excluded.kept_at
            WHERE provider_identity.identity_id = $5
            """, key.poolId, key.key, identityId, now, replaced ?? "") == 1
    }

    /// Removes the stored identity. Returns `false` if none is stored.
    func forgetIdentity(_ key: ProviderKey) throws -> Bool {
        try execute("DELETE FROM provider_identity WHERE pool_id = $1 AND provider_key = $2", key.poolId, key.key) == 1
    }
}
