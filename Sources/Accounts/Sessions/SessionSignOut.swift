import Contract
import ServiceContext
import Storage

extension SessionService {
    /// Ends the session of a token. Accepts expired ID tokens, because possession of the token suffices to end its session.
    ///
    /// - Throws: `CallerNotAllowed`; the errors of ID token verification.
    public func signOut(_ request: SessionSignOut.Params, _ call: any CallContext) throws -> SessionSignOut.Result {
        let now = context.clock.now
        let idSession: String? =
            switch request.session {
            case .idToken(let token):
                try TenantTokenVerifier(context: context, configurations: configurations).verify(
                    token, .init(use: .id, checksStanding: false, checksExpiry: false), now: now
                ).sessionId
            case .refreshToken: nil
            case .sessionId(let id): try developersOnly(call, id)
            }
        return try context.database.write { tx in
            var sessionId = idSession
            if case .refreshToken(let token) = request.session {
                sessionId = try tx.refreshToken(completion.mac(ofRefreshToken: token))?.sessionId
            }
            guard let sessionId else { return SessionSignOut.Result(signedOut: false) }
            return SessionSignOut.Result(signedOut: try end(sessionId, SessionSignOut.info.name, call, at: now, in: tx))
        }
    }

    /// Returns the ID of a session that the caller names without a proof.
    private func developersOnly(_ call: any CallContext, _ sessionId: String) throws -> String {
        if call.isPublicCaller { throw CallerNotAllowed(method: "\(SessionSignOut.info.name) by sessionId") }
        return sessionId
    }

    /// Ends a session. Returns `false` if it does not exist.
    package func end(_ sessionId: String, _ method: String, _ call: any CallContext, at now: Int64, in tx: Transaction) throws -> Bool {
        guard let session = try tx.session(sessionId), let account = try tx.account(session.accountId) else { return false }
        try context.audit.record(
            AuditEvent(method, call, tenant: account.tenantId, subject: account.id, details: [("sessionId", session.id)]), at: now, in: tx)
        return try tx.deleteSession(session.id)
    }
}
