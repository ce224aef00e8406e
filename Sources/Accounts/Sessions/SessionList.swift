import Contract
import ServiceContext
import Storage

extension SessionService {
    private static let limit = 1000

    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`; the errors of ID token verification.
    public func list(_ request: SessionList.Params, _ call: any CallContext) throws -> SessionList.Result {
        let now = context.clock.now
        let token: VerifiedTenantToken? = if case .idToken(let idToken) = request.account { try verify(idToken, at: now) } else { nil }
        return try context.database.read { tx in
            let account =
                switch request.account {
                case .accountId(let id): try named(id, by: SessionList.info.name, call, in: tx)
                case .idToken: try AuthenticatedAccount(token!, in: tx).account
                }
            let tokens = try configurations.knownTenant(account.tenantId, in: tx)?.tokens ?? TokenLifetimes()
            let found = try tx.sessions(of: account.id, at: now, limit: Self.limit).filter {
                tokens.end(ofSessionFrom: $0.authenticatedAt).map { $0 > now } ?? true
            }
            return SessionList.Result(sessions: found.map { $0.answer(tokens, current: token?.sessionId) })
        }
    }

    /// - Throws: The errors of ID token verification.
    func verify(_ idToken: String, at now: Int64) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(context: context, configurations: configurations).verify(idToken, .init(use: .id), now: now)
    }

    /// Returns the account that the developer named by its ID.
    ///
    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`.
    func named(_ accountId: String, by method: String, _ call: any CallContext, in tx: Transaction) throws -> AccountRecord {
        if call.isPublicCaller { throw CallerNotAllowed(method: "\(method) by accountId") }
        guard let account = try tx.account(accountId) else { throw try tx.absence(of: accountId) }
        return account
    }
}

extension SessionRecord {
    /// The session as `session.list` returns it.
    ///
    /// - Parameter current: The ID of the session of the caller's ID token, if there is one.
    fileprivate func answer(_ tokens: TokenLifetimes, current: String?) -> Session {
        let end = tokens.end(ofSessionFrom: authenticatedAt)
        return Session(
            sessionId: id, accountId: accountId, clientId: grant.application?.clientId, amr: amr, signInProvider: provider,
            secondFactor: secondFactor?.kind, authenticatedAt: authenticatedAt, createdAt: createdAt, lastUsedAt: lastUsedAt, endsAt: end,
            current: current.map { $0 == id },
            expiresAt: min(expiresAt, end ?? .max))
    }
}
