import Contract

extension SessionService {
    /// Ends the session that a token belongs to. An ID token may have expired: whoever has it may end what it came from.
    ///
    /// - Throws: `RefreshTokenInvalid` for what is no refresh token of this store, what verifying an ID token throws.
    public func signOut(_ request: SessionSignOut.Params, _ call: any CallContext) throws -> SessionSignOut.Result {
        let now = surroundings.clock.now
        let idSession: String? =
            switch request.session {
            case .idToken(let token):
                try TenantTokenVerifier(surroundings: surroundings, catalogue: catalogue).verify(
                    token, .init(use: .id, checksStanding: false, checksExpiry: false), now: now
                ).sessionId
            case .refreshToken: nil
            }
        return try surroundings.database.write { tx in
            var sessionId = idSession
            if case .refreshToken(let token) = request.session {
                sessionId = try tx.refreshToken(completion.mac(ofRefreshToken: token))?.sessionId
            }
            guard let sessionId, let session = try tx.session(sessionId), let account = try tx.account(session.accountId) else {
                return SessionSignOut.Result(signedOut: false)
            }
            try surroundings.audit.record(
                AuditEvent(
                    SessionSignOut.info.name, call, tenant: account.tenantId, subject: account.id, details: [("sessionId", session.id)]),
                at: now, in: tx)
            return SessionSignOut.Result(signedOut: try tx.deleteSession(session.id))
        }
    }
}
