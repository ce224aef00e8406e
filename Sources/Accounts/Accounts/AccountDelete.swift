import Contract
import ServiceContext

extension AccountService {
    /// Deletes an account with its sessions and flows. Its address can be registered again.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`.
    public func delete(_ request: AccountDelete.Params, _ call: any CallContext) throws -> AccountDelete.Result {
        let now = context.clock.now
        try context.database.write { tx in
            guard let account = try tx.account(request.accountId) else { throw try tx.absence(of: request.accountId) }
            try tx.deleteAccount(account.id)
            let isHidden = try configurations.knownTenant(account.tenantId, in: tx)?.settings.enumerationProtection ?? false
            if isHidden { try tx.hideFlows(of: account.id) } else { try tx.endFlows(of: account.id, .accountDeleted) }
            try tx.clearLockout(of: account.lockoutSubject)
            try context.audit.record(
                AuditEvent(AccountDelete.info.name, call, tenant: account.tenantId, subject: account.id), at: now, in: tx)
        }
        return AccountDelete.Result(accountId: request.accountId)
    }
}
