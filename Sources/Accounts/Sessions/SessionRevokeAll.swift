import Contract
import ServiceContext
import Storage

extension SessionService {
    /// Ends all sessions of an account or a tenant, and the sign-ins whose tokens wait to be fetched.
    ///
    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`, `TenantNotFound`, `RecentSignInRequired`, `InvalidParams`; the
    ///   errors of ID token verification.
    public func revokeAll(_ request: SessionRevokeAll.Params, _ call: any CallContext) throws -> SessionRevokeAll.Result {
        let (now, name) = (context.clock.now, SessionRevokeAll.info.name)
        if request.keepCurrent {
            guard case .idToken = request.account else {
                let message = "keepCurrent needs idToken, which names the session to keep. Omit it."
                throw InvalidParams(violations: [Violation(pointer: "/keepCurrent", rule: "unknown", message: message)])
            }
        }
        switch request.account {
        case .accountId(let id):
            return try context.database.write { tx in
                let account = try named(id, by: name, call, in: tx)
                try tx.endCompletedFlows(of: account.id)
                return try answer(tx.deleteSessions(of: account.id), account, call, at: now, in: tx)
            }
        case .tenantId(let id):
            if call.isPublicCaller { throw CallerNotAllowed(method: "\(name) by tenantId") }
            return try context.database.write { tx in
                _ = try configurations.tenant(id, in: tx)
                let count = try tx.deleteSessions(ofTenant: id)
                try tx.endCompletedFlows(ofTenant: id)
                try context.audit.record(AuditEvent(name, call, tenant: id, details: [("revoked", "\(count)")]), at: now, in: tx)
                return SessionRevokeAll.Result(revoked: Int64(count))
            }
        case .idToken(let idToken):
            let token = try verify(idToken, at: now)
            return try context.database.write { tx in
                let own = try AuthenticatedAccount(token, in: tx)
                if !own.isRecent(at: now) { throw own.tooOld }
                try tx.endCompletedFlows(of: own.account.id)
                let count =
                    request.keepCurrent
                    ? try tx.deleteSessions(of: own.account.id, except: own.session.id) : try tx.deleteSessions(of: own.account.id)
                return try answer(count, own.account, call, at: now, in: tx)
            }
        }
    }

    private func answer(
        _ count: Int, _ account: AccountRecord, _ call: any CallContext, at now: Int64, in tx: Transaction
    ) throws -> SessionRevokeAll.Result {
        if count > 0 {
            try context.audit.record(
                AuditEvent(SessionRevokeAll.info.name, call, tenant: account.tenantId, subject: account.id), at: now, in: tx)
        }
        return SessionRevokeAll.Result(revoked: Int64(count))
    }
}

extension Transaction {
    /// Ends all sessions of the accounts of a tenant and returns their number.
    func deleteSessions(ofTenant tenantId: String) throws -> Int {
        try execute("DELETE FROM session WHERE account_id IN (SELECT a.id FROM account a WHERE a.tenant_id = $1)", tenantId)
    }
}
