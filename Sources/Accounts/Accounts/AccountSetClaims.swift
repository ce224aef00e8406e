import Contract
import JSON
import ServiceContext

extension AccountService {
    /// Replaces the custom claims of an account. Tokens issued after the call contain them.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`, `ClaimNameReserved`, `ClaimsTooLong`.
    public func setClaims(_ request: AccountSetClaims.Params, _ call: any CallContext) throws -> AccountSetClaims.Result {
        try CustomClaims.check(request.claims)
        let now = context.clock.now
        return try context.database.write { tx in
            try tx.lock([request.accountId])
            guard var account = try tx.account(request.accountId) else { throw try tx.absence(of: request.accountId) }
            _ = try configurations.enabledTenant(account.tenantId, in: tx)
            account.claims = request.claims
            account.updatedAt = now
            try tx.update(account)
            try context.audit.record(
                AuditEvent(AccountSetClaims.info.name, call, tenant: account.tenantId, subject: account.id), at: now, in: tx)
            return try account.answer(in: tx)
        }
    }
}
