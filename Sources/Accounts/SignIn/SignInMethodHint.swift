import Contract
import Storage

/// The sign-in method for a user who enters the address of an account.
enum SignInMethodHint {
    case here(AccountRecord.Method)
    /// With providers. `reset` is the method that gives the owner of the address access, if that may be another user.
    case elsewhere([String], reset: String?)

    init(to account: AccountRecord, _ tenant: TenantRecord, _ configurations: TenantConfigurationCache, in tx: Transaction) throws {
        if account.hasOwnWayIn {
            self = .here(account.method == .password ? .password : .code)
            return
        }
        let logins = try tx.accountLogins(of: account.id).map(\.providerId)
        let providers = try configurations.usableProviders(among: logins, of: tenant.id, in: tx)
        // If the tenant has no passwords, an emailed code replaces the reset, because it proves ownership of the address. This does not
        // apply if the address is verified and a provider gives access.
        let isReset = account.canReset(in: tenant)
        let isOpen = account.isEmailVerified && !providers.isEmpty
        self = isReset || isOpen ? .elsewhere(providers, reset: isReset ? PasswordResetStart.info.name : nil) : .here(.code)
    }
}

/// The sign-in methods of an account, for the response to a provider login that is not linked to it.
struct OtherWays: Sendable {
    /// The usable providers that are linked to the account.
    let providers: [String]
    /// Its own sign-in methods: `password` or `code`.
    let methods: [String]
    /// The method to call instead.
    let next: String?

    init(into account: AccountRecord, _ tenant: TenantRecord, _ configurations: TenantConfigurationCache, in tx: Transaction) throws {
        switch try SignInMethodHint(to: account, tenant, configurations, in: tx) {
        case .here(let method):
            let logins = try tx.accountLogins(of: account.id).map(\.providerId)
            providers = try configurations.usableProviders(among: logins, of: tenant.id, in: tx)
            methods = [method == .password ? "password" : "code"]
            next = SignInStart.info.name
        case .elsewhere(let usable, let reset):
            providers = usable
            // Without a usable provider, the user signs in with a code to the address and sets a new password.
            methods = usable.isEmpty && reset != nil ? ["code"] : []
            next = reset
        }
    }
}
