import Contract

extension SessionService {
    private static let limit = 1000

    /// - Throws: `AccountNotFound`, `AccountMerged`.
    public func list(_ request: SessionList.Params, _ call: any CallContext) throws -> SessionList.Result {
        let now = context.clock.now
        let found = try context.database.read { tx in
            guard try tx.account(request.accountId) != nil else { throw try tx.absence(of: request.accountId) }
            return try tx.sessions(of: request.accountId, at: now, limit: Self.limit)
        }
        return SessionList.Result(
            sessions: found.map {
                Session(
                    sessionId: $0.id, accountId: $0.accountId, clientId: $0.grant.application?.clientId, amr: $0.amr,
                    signInProvider: $0.provider,
                    secondFactor: $0.secondFactor?.kind, authenticatedAt: $0.authenticatedAt, createdAt: $0.createdAt,
                    lastUsedAt: $0.lastUsedAt, expiresAt: $0.expiresAt)
            })
    }
}
