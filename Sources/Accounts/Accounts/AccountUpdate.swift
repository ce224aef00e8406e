import Contract
import ServiceContext

extension AccountService {
    /// Updates the given members of an account. Disabling an account ends its sessions.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`, `InvalidAttributes`.
    public func update(_ request: AccountUpdate.Params, _ call: any CallContext) throws -> AccountUpdate.Result {
        let now = context.clock.now
        return try context.database.write { tx in
            try tx.lock([request.accountId])
            guard var account = try tx.account(request.accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx)
            else {
                throw try tx.absence(of: request.accountId)
            }
            if request.mustChangePassword == true, account.password == nil { throw InvalidParams.noPasswordToChange }
            let given = request.attributes ?? [:]
            let accepted = try tenant.acceptChange(given, of: account.attributes)
            for name in given.names { account.attributes[name] = accepted[name] }
            account.isEmailVerified = request.emailVerified ?? account.isEmailVerified
            account.isDisabled = request.disabled ?? account.isDisabled
            account.mustChangePassword = request.mustChangePassword ?? account.mustChangePassword
            account.updatedAt = now
            try tx.update(account)
            if account.isDisabled { _ = try tx.deleteSessions(of: account.id) }
            try context.audit.record(
                AuditEvent(AccountUpdate.info.name, call, tenant: tenant.id, subject: account.id), at: now, in: tx)
            return try account.answer(in: tx)
        }
    }
}
