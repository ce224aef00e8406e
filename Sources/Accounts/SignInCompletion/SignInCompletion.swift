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
    /// Whether ID tokens have the claims of Microsoft Entra in every tenant.
    var issuesProfiles = false
    /// Whether a sign-in in a flow waits for `signIn.withContinuation` when all factors are verified, instead of returning its tokens.
    var defersTokens = false
    /// The authentication contexts that a request asks for.
    var requestedContexts: [String] = []
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
        var phoneNumber: String?
        /// The authentication contexts of the access token.
        var contexts: [String] = []
        package let session: SessionRecord
        let fresh: NewSessionSecrets
        /// The active signing key of the tenant in the transaction that stored the session, if there was one. Reading it there is
        /// inexpensive; a transaction of its own would read the store's epoch again after every commit.
        var key: StoredKey?
    }

    /// The call that signs in, with what is generated for it before the transaction.
    package struct SignInCall: Sendable {
        package let secrets: NewSessionSecrets
        let method: String
        let call: any CallContext
        let now: Int64
        /// The flow that contains the sign-in. If `nil` and a second factor is required, a new flow starts.
        private(set) var flow: Flow?
        /// Asks the hooks of the sign-in, and runs its transaction.
        package let gate: HookGate

        func within(_ flow: Flow) -> Self {
            var copy = self
            copy.flow = flow
            return copy
        }
    }

    /// - Parameters:
    ///   - asksHooks: Whether the hooks of the tenant decide about the sign-in.
    ///   - details: Details of the sign-in for functions that replace hooks; hooks do not get them.
    package func signInCall(
        of method: String, _ call: any CallContext, at now: Int64, asksHooks: Bool = true, details: JSONObject = [:]
    ) -> SignInCall {
        SignInCall(
            secrets: fresh(), method: method, call: call, now: now,
            gate: HookGate(context, isOff: !asksHooks, for: call, details: details))
    }

    package func fresh() -> NewSessionSecrets {
        let (random, pieces) = (context.random, context.random.pieces([16, 32, 16, 16]))
        return NewSessionSecrets(
            sessionId: random.uuid(of: pieces[0]), refreshToken: Base64URL.encode(pieces[1]), accessTokenId: random.uuid(of: pieces[2]),
            flowId: Hex.encode(pieces[3]))
    }

    package func mac(ofRefreshToken token: String) -> [UInt8] { HMAC.sha256(key: refreshKey, Array(token.utf8)) }

    /// Stores a new session of `account`, after the hook `beforeSignIn` has decided. If a hook disables the account, the account is stored
    /// and the session is not; the gate of the call then throws `AccountDisabled`.
    ///
    /// - Throws: `AccountDisabled`, `ScopeNotOffered`, `HookQuestion`.
    func begin(
        _ account: AccountRecord, of tenant: TenantRecord, with signIn: PendingSignIn, by attempt: SignInCall, in tx: Transaction
    ) throws -> SignedIn {
        var (account, signIn) = (account, signIn)
        if !attempt.gate.hasDisabled(account.id) {
            try account.requireEnabled()
            try tenant.requireEnabled()
            try tx.requireUnlocked(account, tenant, at: attempt.now)
            if try attempt.gate.decideSignIn(to: &account, tenant, &signIn, by: attempt, in: tx) { signIn.isAccountStored = false }
        }
        let (proof, now, isDisabled) = (signIn.proof, attempt.now, attempt.gate.hasDisabled(account.id))
        if !isDisabled { account.lastSignInAt = now }
        if signIn.isAccountStored, !isDisabled { try tx.noteSignIn(to: account.id, at: now) } else { try tx.update(account) }
        var session = SessionRecord(
            id: attempt.secrets.sessionId, accountId: account.id, amr: proof.amr, provider: proof.provider, claims: proof.claims,
            secondFactor: proof.secondFactor,
            authenticatedAt: proof.authenticatedAt ?? now, createdAt: now, lastUsedAt: now,
            expiresAt: tenant.tokens.idleEnd(from: now, ofSessionFrom: proof.authenticatedAt ?? now),
            grant: try grant(of: signIn, by: tenant, in: tx))
        session.passkeyId = proof.passkeyId
        session.acr = proof.acr
        if isDisabled {
            _ = try tx.deleteSessions(of: account.id)
            try context.audit.record(
                AuditEvent(attempt.method, attempt.call, tenant: tenant.id, subject: account.id, details: [("disabledBy", "hook")]),
                at: now, in: tx)
            return SignedIn(account: account, logins: [], factors: [], session: session, fresh: attempt.secrets)
        }
        try tx.insert(session)
        try tx.insert(
            RefreshTokenRecord(
                mac: mac(ofRefreshToken: attempt.secrets.refreshToken), sessionId: session.id, parent: nil, usedAt: nil,
                expiresAt: session.expiresAt)
        )
        try context.audit.record(
            AuditEvent(
                attempt.method, attempt.call, tenant: tenant.id, subject: account.id,
                details: [("sessionId", session.id)] + (signIn.application.map { [("clientId", $0.clientId)] } ?? [])
                    + (proof.secondFactor.map { [("factorId", $0.factorId)] } ?? [])), at: now, in: tx)
        var signedIn = SignedIn(
            account: account, logins: try tx.accountLogins(of: account.id), factors: try tx.factors(of: account.id),
            passkeys: tenant.settings.passkeys == nil ? [] : try tx.passkeys(of: account.id),
            phoneNumber: try tx.phoneNumber(of: account.id), contexts: signIn.contexts, session: session, fresh: attempt.secrets)
        signedIn.key = try activeKey(of: tenant, at: now, in: tx)
        return signedIn
    }

    func activeKey(of tenant: TenantRecord, at now: Int64, in tx: Transaction) throws -> StoredKey? {
        try configurations.signingKeys.ring(of: .tenant(tenant.id), in: tx).active(at: now)
    }

    /// Returns the audience and scopes of a new session.
    ///
    /// - Throws: `ClientUnknown` if the application was deleted; `ScopeNotOffered`.
    private func grant(of signIn: PendingSignIn, by tenant: TenantRecord, in tx: Transaction) throws -> AccessGrant {
        // The tenant may have been read before this transaction, in which the application can be deleted already.
        let current = signIn.application == nil ? tenant : try configurations.tenant(tenant.id, in: tx)
        guard let application = current.application(named: signIn.application) else {
            throw ClientUnknown(tenantId: tenant.id, clientId: signIn.application?.clientId ?? tenant.id)
        }
        return AccessGrant(
            audience: signIn.audience ?? tenant.id,
            scopes: try Scopes.granted(
                signIn.scope, by: tenant, to: ScopeRequest(application: application, audience: signIn.audience)),
            application: signIn.application)
    }

    /// Stores a new session of `account` for the tenant's own audience.
    ///
    /// - Throws: `AccountDisabled`.
    package func begin(
        _ account: AccountRecord, of tenant: TenantRecord, proof: SignInProof, by attempt: SignInCall, in tx: Transaction
    ) throws -> SignedIn {
        try begin(account, of: tenant, with: PendingSignIn(proof, audience: nil), by: attempt, in: tx)
    }

    /// Signs the tokens of a session.
    func tokens(_ signedIn: SignedIn, _ tenant: TenantRecord, at now: Int64) throws -> Tokens {
        let key = try signedIn.key ?? signingKey(of: tenant, at: now)
        let claims = TenantTokenClaims(
            issuer: context.realm.issuer(of: .tenant(tenant.id)), tenant: tenant, account: signedIn.account,
            session: signedIn.session, logins: signedIn.logins, issuedAt: now, contexts: signedIn.contexts,
            profile: IDTokenProfile(signedIn.session, isOn: issuesProfiles || tenant.settings.idTokenProfile))
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
    func answer(_ signedIn: SignedIn, _ tenant: TenantRecord, after signIn: PendingSignIn, at now: Int64) throws -> SignInStep {
        let tokens = try tokens(signedIn, tenant, at: now)
        let account = signedIn.account.answer(
            signedIn.logins, signedIn.factors, signedIn.passkeys, phoneNumber: signedIn.phoneNumber)
        return .completed(
            .init(
                expiresAt: tokens.expiresAt, account: account,
                idToken: tokens.idToken, accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, scope: tokens.scope,
                isNewAccount: signIn.isNew, additionalUserInfo: signIn.identity?.additionalUserInfo,
                providerTokens: signIn.returnsProviderTokens ? signIn.identity?.tokens : nil))
    }

    /// Returns the active signing key of a tenant. Creates the first key of the default tenant.
    package func signingKey(of tenant: TenantRecord, at now: Int64) throws -> StoredKey {
        let owner = KeyOwner.tenant(tenant.id)
        if let key = try context.database.read({ try activeKey(of: tenant, at: now, in: $0) }) { return key }
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
