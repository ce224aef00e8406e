import Contract
import ServiceContext
import Storage

/// What a refresh token is good for when it comes.
enum RefreshJudgement: Equatable {
    case fresh
    /// It was used, and comes again while nobody has used what it brought: two windows of one program, or a lost answer.
    case again
    case expired
    /// It was used, and somebody goes on with what it brought: one of the two has stolen it.
    case stolen

    static func of(usedAt: Int64?, expiresAt: Int64, isSuccessorUsed: Bool, graceSeconds: Int64, now: Int64) -> RefreshJudgement {
        guard let usedAt else { return now < expiresAt ? .fresh : .expired }
        return !isSuccessorUsed && now < usedAt + graceSeconds && now < expiresAt ? .again : .stolen
    }
}

extension SessionService {
    /// Gets fresh tokens for a refresh token, which is spent by it.
    ///
    /// - Throws: `AccountMerged`, `RefreshTokenInvalid`, `RefreshTokenExpired`, `RefreshTokenReused`,
    ///   `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`, `ScopeNotGranted`.
    /// - Source: RFC 9700 section 4.14.2; native-auth.md 5.
    public func refresh(_ request: SessionRefresh.Params, _ call: any CallContext) throws -> SessionRefresh.Result {
        let now = surroundings.clock.now
        let fresh = completion.fresh()
        let outcome = try surroundings.database.write { try rotate(request, fresh, SessionRefresh.info.name, call, at: now, in: $0) }
        let (signedIn, tenant) = try outcome.get()
        return try completion.tokens(signedIn, tenant, at: now)
    }

    /// Puts the next refresh token in the place of one, which is spent by it.
    ///
    /// - Returns: a failure where the session has been ended.
    /// - Throws: as `refresh`; then nothing is to be written.
    package func rotate(
        _ request: SessionRefresh.Params, _ fresh: SignInCompletion.Fresh, _ method: String, _ call: any CallContext, at now: Int64,
        in tx: Transaction
    ) throws -> Result<(SignInCompletion.SignedIn, TenantRecord), RefreshTokenReused> {
        let mac = completion.mac(ofRefreshToken: request.refreshToken)
        guard let first = try tx.refreshToken(mac) else {
            try tx.requireUnmerged(refreshToken: mac)
            throw RefreshTokenInvalid()
        }
        try tx.lock(["session/\(first.sessionId)"])
        guard let token = try tx.refreshToken(mac), var session = try tx.session(token.sessionId),
            let account = try tx.account(session.accountId), let tenant = try catalogue.knownTenant(account.tenantId, in: tx)
        else { throw RefreshTokenInvalid() }
        switch RefreshJudgement.of(
            usedAt: token.usedAt, expiresAt: token.expiresAt, isSuccessorUsed: try tx.isSuccessorUsed(of: mac),
            graceSeconds: tenant.tokens.refreshReuseGraceSeconds, now: now)
        {
        case .expired: throw RefreshTokenExpired(expiredAt: token.expiresAt)
        case .stolen:
            _ = try tx.deleteSession(session.id)
            try surroundings.audit.record(
                AuditEvent(
                    method, call, tenant: tenant.id, subject: account.id,
                    details: [("sessionId", session.id), ("outcome", "reused")]), at: now, in: tx)
            return .failure(RefreshTokenReused())
        case .fresh, .again: break
        }
        if account.isDisabled { throw AccountDisabled(accountId: account.id) }
        // What the sign-in was granted stays as it is in the store: this is the grant of one access token.
        session.grant = try session.grant.continued(audience: request.audience, scope: request.scope, by: tenant)
        session.lastUsedAt = now
        session.expiresAt = now + tenant.tokens.refreshTokenSeconds
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
                    account: account, logins: try tx.accountLogins(of: account.id), factors: [], session: session, fresh: fresh), tenant
            )
        )
    }
}
