import Contract
import ServiceContext

extension SessionService {
    /// Ends all sessions of an account.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`.
    public func revokeAll(_ request: SessionRevokeAll.Params, _ call: any CallContext) throws -> SessionRevokeAll.Result {
        let now = context.clock.now
        return try context.database.write { tx in
            guard let account = try tx.account(request.accountId) else { throw try tx.absence(of: request.accountId) }
            let count = try tx.deleteSessions(of: account.id)
            if count > 0 {
                try context.audit.record(
                    AuditEvent(SessionRevokeAll.info.name, call, tenant: account.tenantId, subject: account.id), at: now, in: tx)
            }
            return SessionRevokeAll.Result(revoked: Int64(count))
        }
    }
}
