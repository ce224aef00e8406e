import Contract
import ServiceContext
import Storage

extension AccountService {
    /// Deletes an account with its sessions, flows and agents. Its address can be registered again.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`.
    public func delete(_ request: AccountDelete.Params, _ call: any CallContext) throws -> AccountDelete.Result {
        let now = context.clock.now
        try context.database.write { tx in
            guard let account = try tx.account(request.accountId) else { throw try tx.absence(of: request.accountId) }
            try delete(account, by: AccountDelete.info.name, call, at: now, in: tx)
        }
        return AccountDelete.Result(accountId: request.accountId)
    }

    /// Deletes an account in the transaction of a method.
    func delete(_ account: AccountRecord, by method: String, _ call: any CallContext, at now: Int64, in tx: Transaction) throws {
        for id in try tx.agents(of: account.id) {
            guard let agent = try tx.account(id) else { continue }
            try tx.deleteAccount(id)
            try context.audit.record(
                AuditEvent(method, call, tenant: agent.tenantId, subject: id, details: [("ownerId", account.id)]), at: now, in: tx)
        }
        try tx.deleteAccount(account.id)
        let isHidden = try configurations.knownTenant(account.tenantId, in: tx)?.settings.enumerationProtection ?? false
        if isHidden { try tx.hideFlows(of: account.id) } else { try tx.endFlows(of: account.id, .accountDeleted) }
        try tx.clearLockout(of: account.lockoutSubject)
        try context.audit.record(
            AuditEvent(method, call, tenant: account.tenantId, subject: account.id), at: now, in: tx)
    }
}
