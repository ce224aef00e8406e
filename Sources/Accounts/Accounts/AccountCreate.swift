import Contract
import ServiceContext

extension AccountService {
    /// Creates an account. The caller vouches for the email address.
    ///
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserAlreadyExists`, `AccountExists`, `AccountMerged`, `InvalidPassword`,
    ///   `InvalidAttributes`.
    public func create(_ request: AccountCreate.Params, _ call: any CallContext) throws -> AccountCreate.Result {
        let now = context.clock.now
        let tenant = try context.database.read { try configurations.tenant(request.tenantId, in: $0) }
        let username = try Username(request.username)
        if request.mustChangePassword, request.password == nil { throw InvalidParams.noPasswordToChange }
        let attributes = try tenant.accept(request.attributes ?? [:], of: .others)
        var account = AccountRecord(
            id: request.accountId ?? context.random.uuid(), tenantId: tenant.id, username: username.typed, email: username.typed,
            isEmailVerified: request.emailVerified, method: request.password == nil ? .code : .password, attributes: attributes,
            mustChangePassword: request.mustChangePassword, createdAt: now, updatedAt: now)
        if let password = request.password {
            try context.checkNew(password, for: account, tenant, AccountCreate.info.name, call)
            account.password = try context.passwords.sealed(password, as: account.id)
        }
        let (made, id) = (account, account.id)
        try context.database.write { tx in
            try tx.lock([id])
            if try tx.account(id) != nil { throw AccountExists(accountId: id) }
            try tx.requireUnmerged(id)
            guard try tx.insert(made) else { throw UserAlreadyExists(next: "account.find") }
            try context.audit.record(AuditEvent(AccountCreate.info.name, call, tenant: tenant.id, subject: id), at: now, in: tx)
        }
        return account.answer([])
    }
}

extension InvalidParams {
    /// The error for `mustChangePassword` on an account without a password.
    static var noPasswordToChange: InvalidParams {
        InvalidParams(violations: [
            Violation(
                pointer: "/mustChangePassword", rule: "requires",
                message: "mustChangePassword requires an account with a password, and this account has none. Omit it.")
        ])
    }
}
