import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import SigningKeys
import Storage

/// Completes every sign-in: stores the session, then signs its tokens.
package struct SignInCompletion: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    private let refreshKey: SecretBytes

    package init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        refreshKey = context.vault.subkey("refresh token")
    }

    /// The IDs and secrets that are generated before the transaction.
    package struct NewSessionSecrets: Sendable {
        let sessionId: String
        package let refreshToken: String
        let accessTokenId: String
        /// The ID of the flow that is created if a second factor is required.
        let flowId: String
    }

    /// A stored session with its refresh token.
    package struct SignedIn: Sendable {
        package let account: AccountRecord
        let logins: [AccountLogin]
        let factors: [FactorRecord]
        /// Empty if the tenant has no passkeys.
        var passkeys: [PasskeyRecord] = []
        package let session: SessionRecord
        let fresh: NewSessionSecrets
    }

    /// The call that signs in, with what is generated for it before the transaction.
    package struct SignInCall: Sendable {
        package let secrets: NewSessionSecrets
        let method: String
        let call: any CallContext
        let now: Int64
        /// The flow that contains the sign-in. If `nil` and a second factor is required, a new flow starts.
        private(set) var flow: Flow?

        func within(_ flow: Flow) -> Self {
            var copy = self
            copy.flow = flow
            return copy
        }
    }

    package func signInCall(of method: String, _ call: any CallContext, at now: Int64) -> SignInCall {
        SignInCall(secrets: fresh(), method: method, call: call, now: now)
    }

    package func fresh() -> NewSessionSecrets {
        let random = context.random
        return NewSessionSecrets(
            sessionId: random.uuid(), refreshToken: Base64URL.encode(random.bytes(32)), accessTokenId: random.uuid(),
            flowId: Hex.encode(random.bytes(16)))
    }

    package func mac(ofRefreshToken token: String) -> [UInt8] { HMAC.sha256(key: refreshKey, Array(token.utf8)) }

    /// Stores a new session of `account`.
    ///
    /// - Throws: `AccountDisabled`, `ScopeNotOffered`.
    func begin(
        _ account: AccountRecord, of tenant: TenantRecord, with signIn: PendingSignIn, by attempt: SignInCall, in tx: Transaction
    ) throws -> SignedIn {
        let (proof, now) = (signIn.proof, attempt.now)
        if account.isDisabled { throw AccountDisabled(accountId: account.id) }
        try tenant.requireEnabled()
        try tx.requireUnlocked(account, tenant, at: now)
        var account = account
        account.lastSignInAt = now
        try tx.update(account)
        var session = SessionRecord(
            id: attempt.secrets.sessionId, accountId: account.id, amr: proof.amr, provider: proof.provider, claims: proof.claims,
            secondFactor: proof.secondFactor,
            authenticatedAt: proof.authenticatedAt ?? now, createdAt: now, lastUsedAt: now,
            expiresAt: tenant.tokens.idleEnd(from: now, ofSessionFrom: proof.authenticatedAt ?? now),
            grant: AccessGrant(audience: signIn.audience ?? tenant.id, scopes: try Scopes.granted(signIn.scope, by: tenant)))
        session.passkeyId = proof.passkeyId
        try tx.insert(session)
        try tx.insert(
            RefreshTokenRecord(
                mac: mac(ofRefreshToken: attempt.secrets.refreshToken), sessionId: session.id, parent: nil, usedAt: nil,
                expiresAt: session.expiresAt)
        )
        try context.audit.record(
            AuditEvent(
                attempt.method, attempt.call, tenant: tenant.id, subject: account.id,
                details: [("sessionId", session.id)] + (proof.secondFactor.map { [("factorId", $0.factorId)] } ?? [])), at: now, in: tx)
        return SignedIn(
            account: account, logins: try tx.accountLogins(of: account.id), factors: try tx.factors(of: account.id),
            passkeys: tenant.settings.passkeys == nil ? [] : try tx.passkeys(of: account.id), session: session, fresh: attempt.secrets)
    }

    /// Stores a new session of `account` for the tenant's own audience.
    ///
    /// - Throws: `AccountDisabled`.
    package func begin(
        _ account: AccountRecord, of tenant: TenantRecord, proof: SignInProof, by attempt: SignInCall, in tx: Transaction
    ) throws -> SignedIn {
        try begin(account, of: tenant, with: PendingSignIn(proof, audience: nil), by: attempt, in: tx)
    }

    /// - Throws: `AudienceNotOffered`, `ScopeNotOffered`.
    static func check(_ audience: String?, _ scope: String? = nil, of tenant: TenantRecord) throws {
        _ = try Scopes.granted(scope, by: tenant)
        guard let audience, audience != tenant.id, !tenant.audiences.contains(audience) else { return }
        throw AudienceNotOffered(tenantId: tenant.id, audience: audience)
    }

    /// Signs the tokens of a session.
    func tokens(_ signedIn: SignedIn, _ tenant: TenantRecord, at now: Int64) throws -> Tokens {
        let key = try signingKey(of: tenant, at: now)
        let claims = TenantTokenClaims(
            issuer: context.realm.issuer(of: .tenant(tenant.id)), tenant: tenant, account: signedIn.account,
            session: signedIn.session, logins: signedIn.logins, issuedAt: now)
        // No token outlives its session.
        let end = tenant.tokens.end(ofSessionFrom: signedIn.session.authenticatedAt) ?? .max
        let expiresAt = min(end, now + tenant.tokens.idTokenSeconds)
        return Tokens(
            idToken: try key.signer.sign(claims.idToken(expiresAt: expiresAt)),
            accessToken: try key.accessSigner.sign(
                claims.accessToken(
                    id: signedIn.fresh.accessTokenId, audience: signedIn.session.grant.audience ?? tenant.id,
                    expiresAt: min(end, now + tenant.tokens.accessTokenSeconds))),
            refreshToken: signedIn.fresh.refreshToken, scope: signedIn.session.grant.scopes.text, expiresAt: expiresAt)
    }

    /// The result of a completed sign-in.
    ///
    /// - Parameter identity: The identity at the provider, for a federated sign-in.
    func answer(
        _ signedIn: SignedIn, _ tenant: TenantRecord, isNew: Bool, _ identity: ProviderIdentity? = nil,
        returnsProviderTokens: Bool = false, at now: Int64
    ) throws -> SignInStep {
        let tokens = try tokens(signedIn, tenant, at: now)
        return .completed(
            .init(
                expiresAt: tokens.expiresAt, account: signedIn.account.answer(signedIn.logins, signedIn.factors, signedIn.passkeys),
                idToken: tokens.idToken, accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, scope: tokens.scope,
                isNewAccount: isNew, additionalUserInfo: identity?.additionalUserInfo,
                providerTokens: returnsProviderTokens ? identity?.tokens : nil))
    }

    /// Returns the active signing key of a tenant. Creates the first key of the default tenant.
    package func signingKey(of tenant: TenantRecord, at now: Int64) throws -> StoredKey {
        let owner = KeyOwner.tenant(tenant.id)
        if let key = try context.database.read({ try configurations.signingKeys.ring(of: owner, in: $0) }).active(at: now) { return key }
        let algorithm = Crypto.SigningAlgorithm(rawValue: tenant.settings.signingAlgorithm.rawValue) ?? .ES256
        let first = try NewSigningKey(for: owner, algorithm: algorithm, activeAt: now, context.service)
        let ring = try context.database.write { tx in
            try tx.lock([owner.path])
            let ring = try tx.keyRing(of: owner, vault: context.vault)
            if ring.active(at: now) != nil { return ring }
            guard try tx.tenant(tenant.id) != nil else { throw TenantNotFound(tenantId: tenant.id) }
            try tx.advanceEpoch()
            try tx.insert(first, at: now)
            return try tx.keyRing(of: owner, vault: context.vault)
        }
        guard let key = ring.active(at: now) else { throw TenantNotFound(tenantId: tenant.id) }
        return key
    }
}
