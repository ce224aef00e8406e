import Contract
import ServiceContext
import Storage

/// The decision about a presented refresh token (Sources/Accounts/README.md, "Sessions and tokens").
enum RefreshJudgement: Equatable {
    case fresh
    /// The token was used recently and its successor was not: two windows of one application share it, or a response was lost.
    case again
    case expired
    /// The token was used, and its successor was used too or the grace period has passed. This indicates that the token was stolen.
    case stolen

    static func of(usedAt: Int64?, expiresAt: Int64, isSuccessorUsed: Bool, graceSeconds: Int64, now: Int64) -> RefreshJudgement {
        guard let usedAt else { return now < expiresAt ? .fresh : .expired }
        // The clock of the process that used it can be ahead of the clock of this process, or this call has waited since it read the clock.
        let isWithinGrace = abs(now - usedAt) < graceSeconds
        return !isSuccessorUsed && isWithinGrace && now < expiresAt ? .again : .stolen
    }
}

extension SessionService {
    /// Exchanges a refresh token for new tokens. The refresh token is then used.
    ///
    /// - Throws: `AccountMerged`, `RefreshTokenInvalid`, `RefreshTokenExpired`, `RefreshTokenReused`, `SessionExpired`, `TenantDisabled`,
    ///   `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`, `ScopeNotGranted`, `SecondFactorRequired`, `ClientSecretInvalid`.
    /// - Source: RFC 9700 §4.14.2.
    public func refresh(_ request: SessionRefresh.Params, _ call: any CallContext) throws -> SessionRefresh.Result {
        let now = context.clock.now
        let fresh = completion.fresh()
        let attempt = RefreshCall(method: SessionRefresh.info.name, call: call, now: now, secrets: fresh)
        let outcome = try context.database.write { try rotate(request, by: attempt, in: $0) }
        let (signedIn, tenant) = try outcome.get()
        return try completion.tokens(signedIn, tenant, at: now)
    }

    /// The call that refreshes a session, with what is generated for it before the transaction.
    package struct RefreshCall {
        let method: String
        let call: any CallContext
        let now: Int64
        let secrets: SignInCompletion.NewSessionSecrets

        package init(method: String, call: any CallContext, now: Int64, secrets: SignInCompletion.NewSessionSecrets) {
            self.method = method
            self.call = call
            self.now = now
            self.secrets = secrets
        }
    }

    /// Marks a refresh token as used and stores its successor.
    ///
    /// - Returns: A failure if reuse was detected and the session was ended. The transaction must be committed.
    /// - Throws: The errors of `refresh`. The transaction must then be rolled back.
    package func rotate(
        _ request: SessionRefresh.Params, by attempt: RefreshCall, in tx: Transaction
    ) throws -> Result<(SignInCompletion.SignedIn, TenantRecord), RefreshTokenReused> {
        let (fresh, now) = (attempt.secrets, attempt.now)
        let mac = completion.mac(ofRefreshToken: request.refreshToken)
        guard let first = try tx.refreshToken(mac) else {
            try tx.requireUnmerged(refreshToken: mac)
            throw RefreshTokenInvalid()
        }
        try tx.lock(["session/\(first.sessionId)"])
        guard let token = try tx.refreshToken(mac), var session = try tx.session(token.sessionId),
            let account = try tx.account(session.accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx)
        else { throw RefreshTokenInvalid() }
        try tenant.requireEnabled()
        let end = tenant.tokens.end(ofSessionFrom: session.authenticatedAt)
        if let end, end <= now { throw SessionExpired(endedAt: end) }
        switch RefreshJudgement.of(
            usedAt: token.usedAt, expiresAt: token.expiresAt, isSuccessorUsed: try tx.isSuccessorUsed(of: mac),
            graceSeconds: tenant.tokens.refreshReuseGraceSeconds, now: now)
        {
        case .expired: throw RefreshTokenExpired(expiredAt: token.expiresAt)
        case .stolen:
            _ = try tx.deleteSession(session.id)
            try context.audit.record(
                AuditEvent(
                    attempt.method, attempt.call, tenant: tenant.id, subject: account.id,
                    details: [("sessionId", session.id), ("outcome", "reused")]), at: now, in: tx)
            return .failure(RefreshTokenReused())
        case .fresh, .again: break
        }
        if let clientId = request.clientId, clientId != session.grant.application?.clientId ?? tenant.id { throw RefreshTokenInvalid() }
        // A confidential application authenticates at every refresh (RFC 6749 §6).
        if !isClientAuthenticated, let application = tenant.application(named: session.grant.application) {
            _ = try ApplicationAuthentication(context).isAuthenticated(application, by: request.clientSecret)
        }
        if account.isDisabled { throw AccountDisabled(accountId: account.id) }
        let contexts = tenant.known(completion.requestedContexts)
        if tenant.settings.mfa == .required || !contexts.isEmpty, session.secondFactor == nil,
            try SecondFactorRule.decide(.required, session.proof, try tx.factors(of: account.id)) != .nothing
        {
            throw SecondFactorRequired()
        }
        // The grant stored with the session does not change: this is the grant of one access token.
        session.grant = try session.grant.continued(audience: request.audience, scope: request.scope, by: tenant)
        session.lastUsedAt = now
        session.expiresAt = tenant.tokens.idleEnd(from: now, ofSessionFrom: session.authenticatedAt)
        try tx.markUsed(mac, at: now)
        try tx.forgetRefreshTokens(of: session.id, before: now)
        try tx.insert(
            RefreshTokenRecord(
                mac: completion.mac(ofRefreshToken: fresh.refreshToken), sessionId: session.id, parent: mac, usedAt: nil,
                expiresAt: session.expiresAt))
        try tx.touchSession(session.id, usedAt: now, expiresAt: session.expiresAt)
        return .success(
            (
                SignInCompletion.SignedIn(
                    account: account, logins: try tx.accountLogins(of: account.id), factors: [], contexts: contexts, session: session,
                    fresh: fresh), tenant
            )
        )
    }
}
