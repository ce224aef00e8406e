import Contract
import JSON
import ServiceContext
import Storage

/// An account that a developer creates.
package struct NewAccount: Sendable {
    package var tenantId: String
    /// The ID. Generated if `nil`.
    package var accountId: String?
    /// The email address, for which the developer vouches; `nil` for an account without an address.
    package var username: String?
    package var password: String?
    package var phoneNumber: String?
    package var attributes = JSONObject()
    package var claims = JSONObject()
    package var isEmailVerified = false
    package var isDisabled = false
    package var mustChangePassword = false
    /// The way in which the user signs in, if the account has no address.
    package var otherMethod = AccountRecord.Method.custom
    /// How the user signs in, if a user creates the account through an API of another product: the hook `beforeCreate` then decides. `nil`
    /// if the developer creates it.
    package var provider: String?
    /// What only functions in place of hooks get about the creation.
    package var hookDetails = JSONObject()

    package init(tenantId: String) { self.tenantId = tenantId }
}

extension AccountService {
    /// Creates an account, with all its members or not at all.
    ///
    /// - Parameter method: The name of the calling method.
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserAlreadyExists`, `AccountExists`, `AccountMerged`, `InvalidPassword`,
    ///   `InvalidAttributes`, `InvalidPhoneNumber`, `PhoneNumberInUse`, `ClaimNameReserved`, `ClaimsTooLong`.
    package func create(_ new: NewAccount, by method: String, _ call: any CallContext) throws -> (account: AccountRecord, answer: Account) {
        let now = context.clock.now
        let tenant = try context.database.read { try configurations.enabledTenant(new.tenantId, in: $0) }
        let username = try new.username.map { try Username($0) }
        let phoneNumber = try new.phoneNumber.map { try PhoneNumber.checked($0) }
        if new.mustChangePassword, new.password == nil { throw InvalidParams.noPasswordToChange }
        try CustomClaims.check(new.claims)
        var account = AccountRecord(
            id: new.accountId ?? context.random.uuid(), tenantId: tenant.id, username: username?.typed, email: username?.typed,
            isEmailVerified: new.isEmailVerified, method: username == nil ? new.otherMethod : new.password == nil ? .code : .password,
            attributes: try tenant.acceptChange(new.attributes, of: [:]), claims: new.claims, isDisabled: new.isDisabled,
            // The user alone chooses the password in a security profile (OWASP ASVS 5.0 §6.4.1, §6.4.6).
            mustChangePassword: new.mustChangePassword || (tenant.hasProfile && new.password != nil), createdAt: now, updatedAt: now)
        if let password = new.password {
            try context.check(context.newPassword(password, for: account, in: tenant), by: method, call)
            account.password = try context.passwords.sealed(password, as: account.id)
        }
        let (made, id) = (account, account.id)
        let gate = HookGate(context, isOff: new.provider == nil, for: call, details: new.hookDetails)
        return try gate.write { tx in
            var made = made
            try tx.lock([id])
            if try tx.account(id) != nil { throw AccountExists(accountId: id) }
            try tx.requireUnmerged(id)
            if let provider = new.provider {
                try gate.decideCreation(of: &made, tenant, provider: provider, by: method, in: tx)
            }
            guard try tx.insert(made) else { throw UserAlreadyExists(next: "account.find") }
            if let phoneNumber { try tx.setPhoneNumber(phoneNumber, of: made) }
            try context.audit.record(AuditEvent(method, call, tenant: tenant.id, subject: id), at: now, in: tx)
            return (made, try made.answer(in: tx))
        }
    }
}
