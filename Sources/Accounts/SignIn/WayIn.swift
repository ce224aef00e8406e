import Contract
import Storage

/// Where whoever has the address of an account gets into it.
enum WayIn {
    case here(AccountRecord.Method)
    /// With providers; `reset` is the method for the owner of the address, if that is somebody else.
    case elsewhere([String], reset: String?)

    init(to account: AccountRecord, _ tenant: TenantRecord, _ catalogue: TenantConfigurationCache, in tx: Transaction) throws {
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

/// How the owner of an account signs in to it, for the answer to a provider that does not lead there.
struct OtherWays: Sendable {
    /// The providers that lead to it.
    let providers: [String]
    /// Its own sign-in methods: `password` or `code`.
    let methods: [String]
    /// The method to call instead.
    let next: String?

    init(into account: AccountRecord, _ tenant: TenantRecord, _ catalogue: TenantConfigurationCache, in tx: Transaction) throws {
        switch try WayIn(to: account, tenant, catalogue, in: tx) {
        case .here(let method):
            let logins = try tx.accountLogins(of: account.id).map(\.providerId)
            providers = try catalogue.usableProviders(among: logins, of: tenant.id, in: tx)
            methods = [method == .password ? "password" : "code"]
            next = SignInStart.info.name
        case .elsewhere(let usable, let reset):
            providers = usable
            // Without a provider that works, a code to the address and a new password are the way in.
            methods = usable.isEmpty && reset != nil ? ["code"] : []
            next = reset
        }
    }
}
