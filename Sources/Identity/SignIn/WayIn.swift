import Contract
import Storage

/// Where whoever has the address of an account gets into it.
enum WayIn {
    case here(AccountRecord.Method)
    /// With providers; `reset` is the method for the owner of the address, if that is somebody else.
    case elsewhere([String], reset: String?)

    init(to account: AccountRecord, _ tenant: TenantRecord, _ catalogue: Catalogue, in tx: Transaction) throws {
        if account.hasOwnWayIn {
            self = .here(account.method)
            return
        }
        let logins = try tx.accountLogins(of: account.id).map(\.providerId)
        let providers = try catalogue.usableProviders(among: logins, of: tenant.id, in: tx)
        // Where nobody has a password a mailed code takes the place of its reset (firebase.md 5.5: an email link shows whose an address
        // is), unless somebody has shown that already, and can get in.
        let isReset = account.canReset(in: tenant)
        let isOpen = account.isEmailVerified && !providers.isEmpty
        self = isReset || isOpen ? .elsewhere(providers, reset: isReset ? PasswordResetStart.info.name : nil) : .here(.code)
    }
}
