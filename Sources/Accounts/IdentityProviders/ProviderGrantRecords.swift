import Crypto
import JSON
import ServiceContext
import Storage

/// What is kept with a login, as it was read: what is written in its place is written only if it is there still.
struct KeptGrant: Sendable {
    let providerId: String
    let subject: String
    let tenantId: String
    let accountId: String
    let sealed: [UInt8]?
    /// Whoever refreshes it names itself here.
    let lease: String?

    /// It stays with the login, also when that moves to another account.
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
    /// - Returns: nil if the account has no login of this provider.
    func keptGrant(at providerId: String, of accountId: String) throws -> KeptGrant? {
        try queryOne(
            """
            SELECT provider_id, subject, tenant_id, account_id, tokens, tokens_lease FROM account_login
            WHERE account_id = $1 AND provider_id = $2
            """, accountId, providerId
        ) { row in
            KeptGrant(
                providerId: row.string(0), subject: row.string(1), tenantId: row.string(2), accountId: row.string(3),
                sealed: row.optionalBytes(4), lease: row.optionalString(5))
        }
    }

    /// Keeps what a sign-in has brought for later, if it has; whoever is refreshing what was there before has lost.
    ///
    /// - Throws: `SealBroken`.
    func keepGrant(of identity: ProviderIdentity, for account: AccountRecord, _ vault: Vault) throws {
        guard let grant = identity.grant, let kept = try keptGrant(at: identity.providerId, of: account.id) else { return }
        let sealed = kept.seal(grant.following(try kept.grant(vault)), vault)
        try execute(
            "UPDATE account_login SET tokens = $3, tokens_lease = NULL WHERE account_id = $1 AND provider_id = $2", account.id,
            identity.providerId, sealed)
    }

    /// Lets one of all that try refresh what was read. Answers false if that is not there any more.
    func lease(_ kept: KeptGrant, to lease: String) throws -> Bool {
        try execute(
            """
            UPDATE account_login SET tokens_lease = $3
            WHERE account_id = $1 AND provider_id = $2 AND tokens = $4 AND (tokens_lease IS NULL OR tokens_lease = $5)
            """, kept.accountId, kept.providerId, lease, kept.sealed, kept.lease) == 1
    }

    /// Ends a lease.
    ///
    /// - Parameter sealed: what takes the place of what was there; nil: nothing.
    func endLease(_ lease: String, of kept: KeptGrant, _ sealed: [UInt8]?) throws {
        try execute(
            """
            UPDATE account_login SET tokens = $4, tokens_lease = NULL WHERE account_id = $1 AND provider_id = $2 AND tokens_lease = $3
            """, kept.accountId, kept.providerId, lease, sealed ?? kept.sealed)
    }
}
