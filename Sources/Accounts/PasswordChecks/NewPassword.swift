/// A password that an account is to get, and what it is validated against.
struct NewPassword {
    let text: String
    let tenant: TenantRecord
    /// The words that the password must not contain.
    let words: ContextWords
    /// Whether it is already the password of the account.
    var isCurrent = false
    /// The ID of the account, for the audit log. A new account may have none yet.
    var accountId: String?
}

extension AccountsContext {
    /// Returns a new password of an existing account, which must differ from its current one.
    ///
    /// - Parameter address: An additional address that the account receives together with the password.
    func newPassword(
        _ text: String, for account: AccountRecord, gaining address: String? = nil, in tenant: TenantRecord
    ) throws -> NewPassword {
        NewPassword(
            text: text, tenant: tenant, words: ContextWords(of: account, gaining: address, tenant),
            isCurrent: try account.password != nil && passwords.matches(text, account.password, as: account.id), accountId: account.id)
    }
}
