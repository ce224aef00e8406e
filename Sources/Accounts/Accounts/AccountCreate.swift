import Contract

extension AccountService {
    /// Creates an account. The caller vouches for the email address.
    ///
    /// - Throws: The errors of `create(_:by:_:)`.
    public func create(_ request: AccountCreate.Params, _ call: any CallContext) throws -> AccountCreate.Result {
        var new = NewAccount(tenantId: request.tenantId)
        new.accountId = request.accountId
        new.username = request.username
        new.password = request.password
        new.phoneNumber = request.phoneNumber
        new.attributes = request.attributes ?? [:]
        new.claims = request.claims ?? [:]
        new.isEmailVerified = request.emailVerified
        new.isDisabled = request.disabled
        new.mustChangePassword = request.mustChangePassword
        return try create(new, by: AccountCreate.info.name, call).answer
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
