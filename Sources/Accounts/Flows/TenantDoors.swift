import Contract
import Storage

/// A door is an operation that returns tokens, or changes how an account is signed in to (Sources/Accounts/README.md, "Doors").
extension Transaction {
    /// Refuses a door that the lockout of an account blocks only if the tenant's `lockCovers` is `everyDoor`. Doors that verify a password
    /// or a code check the lockout themselves, for every tenant.
    ///
    /// - Throws: `AccountLocked`.
    func requireUnlocked(_ account: AccountRecord, _ tenant: TenantRecord, at now: Int64) throws {
        guard tenant.settings.lockCovers == .everyDoor else { return }
        let lockout = try lockout(of: account.lockoutSubject, at: now)
        guard lockout.lock(at: now) != nil else { return }
        try lockout.check(at: now, unlock: tenant.unlock(account, of: account.address, at: now, in: self))
    }
}

extension Transaction {
    /// Refuses a code that could not be used: the account is disabled, or locked against sign-ins. Does nothing where the answer would
    /// reveal the account.
    ///
    /// - Parameter isSignIn: Whether the code signs in. A lockout does not concern the codes of a password reset.
    /// - Throws: `AccountDisabled`, without the ID of the account, because the caller has proved nothing; `AccountLocked`.
    func requireUsable(_ account: AccountRecord?, _ tenant: TenantRecord, forSignIn isSignIn: Bool, at now: Int64) throws {
        guard let account, !tenant.enumerationProtection else { return }
        if account.isDisabled { throw AccountDisabled() }
        guard isSignIn else { return }
        let unlock = try tenant.unlock(account, of: account.address, at: now, in: self)
        try lockout(of: account.lockoutSubject, at: now).check(at: now, unlock: unlock)
    }
}

extension TenantConfigurationCache {
    /// Returns a tenant for a door.
    ///
    /// - Throws: `TenantNotFound`, `TenantDisabled`.
    package func enabledTenant(_ id: String, in tx: Transaction) throws -> TenantRecord {
        let tenant = try tenant(id, in: tx)
        try tenant.requireEnabled()
        return tenant
    }
}

extension AccountRecord {
    /// Refuses accounts that never sign in. Agents get tokens by `token.exchange` only, even if a login of a user was linked with one.
    ///
    /// - Throws: `AccountDisabled`.
    func requireEnabled() throws {
        if isDisabled || isAgent { throw AccountDisabled(accountId: id) }
    }
}
