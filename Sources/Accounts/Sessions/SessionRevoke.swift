import Contract
import ServiceContext

extension SessionService {
    /// Ends one of the sessions of the user of an ID token.
    ///
    /// - Throws: the errors of ID token verification, `RecentSignInRequired`, `SessionNotFound`.
    public func revoke(_ request: SessionRevoke.Params, _ call: any CallContext) throws -> SessionRevoke.Result {
        let (now, name) = (context.clock.now, SessionRevoke.info.name)
        let token = try verify(request.idToken, at: now)
        return try context.database.write { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            if !own.isRecent(at: now) { throw own.tooOld }
            guard let session = try tx.session(request.sessionId), session.accountId == own.account.id else { throw SessionNotFound() }
            return SessionRevoke.Result(revoked: try end(session.id, name, call, at: now, in: tx))
        }
    }
}
