import Contract
import Storage

extension TenantConfigurationCache {
    /// Refuses a door that is opened with an ID token and reads no account otherwise.
    ///
    /// - Throws: `AccountLocked`.
    func requireUnlocked(_ token: VerifiedTenantToken, _ context: AccountsContext) throws {
        let now = context.clock.now
        try context.database.read { tx in
            guard let account = try tx.account(token.accountId), let tenant = try knownTenant(token.tenantId, in: tx) else { return }
            try tx.requireUnlocked(account, tenant, at: now)
        }
    }
}
