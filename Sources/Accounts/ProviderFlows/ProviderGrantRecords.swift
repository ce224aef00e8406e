import Crypto
import JSON
import ServiceContext
import Storage

/// The provider tokens stored with a login, as they were read. They are replaced only if they have not changed since.
struct StoredGrant: Sendable {
    let providerId: String
    let subject: String
    let tenantId: String
    let accountId: String
    let sealed: [UInt8]?
    /// The lease of the refresh that is in progress.
    let lease: String?

    /// Depends on the login, not on the account, so that it stays the same when the login moves to another account.
    private var sealName: String { "provider tokens \(tenantId) \(providerId) \(subject)" }

    func seal(_ grant: ProviderGrant, _ vault: Vault) -> [UInt8] {
        vault.seal(SecretBytes(JSONValue.object(grant.object).bytes), as: sealName)
    }

    /// - Throws: `SealBroken`.
    func grant(_ vault: Vault) throws -> ProviderGrant? {
        guard let sealed else { return nil }
        guard let object = try JSONValue(parsing: vault.open(sealed, as: sealName).copy()).object else { return nil }
        return ProviderGrant(object)
    }
}

extension Transaction {
    /// - Returns: The stored tokens, or `nil` if the account has no login of this provider.
    func keptGrant(at providerId: String, of accountId: String) throws -> StoredGrant? {
        try queryOne(
            """
            SELECT provider_id, subject, tenant_id, account_id, tokens, tokens_lease FROM account_login
            WHERE account_id = $1 AND provider_id = $2
            """, accountId, providerId
        ) { row in
            StoredGrant(
                providerId: row.string(0), subject: row.string(1), tenantId: row.string(2), accountId: row.string(3),
                sealed: row.optionalBytes(4), lease: row.optionalString(5))
        }
    }

    /// Stores the provider tokens of a sign-in, if it has any. A refresh of the previous tokens that is in progress loses its lease.
    ///
    /// - Throws: `SealBroken`.
    func keepGrant(of identity: ProviderIdentity, for account: AccountRecord, _ vault: Vault) throws {
        guard let grant = identity.grant, let kept = try keptGrant(at: identity.providerId, of: account.id) else { return }
        let sealed = kept.seal(grant.following(try kept.grant(vault)), vault)
        try execute(
            "UPDATE account_login SET tokens = $3, tokens_lease = NULL WHERE account_id = $1 AND provider_id = $2", account.id,
            identity.providerId, sealed)
    }

    /// Takes the lease for a refresh. If several calls try, only one succeeds. Returns `false` if the stored tokens have changed.
    func lease(_ kept: StoredGrant, to lease: String) throws -> Bool {
        try execute(
            """
            UPDATE account_login SET tokens_lease = $3
            WHERE account_id = $1 AND provider_id = $2 AND tokens = $4 AND (tokens_lease IS NULL OR tokens_lease = $5)
            """, kept.accountId, kept.providerId, lease, kept.sealed, kept.lease) == 1
    }

    /// Ends a lease.
    ///
    /// - Parameter sealed: The new encrypted tokens, or `nil` to keep the stored ones.
    func endLease(_ lease: String, of kept: StoredGrant, _ sealed: [UInt8]?) throws {
        try execute(
            """
            UPDATE account_login SET tokens = $4, tokens_lease = NULL WHERE account_id = $1 AND provider_id = $2 AND tokens_lease = $3
            """, kept.accountId, kept.providerId, lease, sealed ?? kept.sealed)
    }
}
