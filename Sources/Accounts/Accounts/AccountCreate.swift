import Contract

extension AccountService {
    /// Creates an account. The caller vouches for the email address and the phone number.
    ///
    /// - Throws: `InvalidParams` if a member needs an address that the account does not have; the errors of `create(_:by:_:)`.
    public func create(_ request: AccountCreate.Params, _ call: any CallContext) throws -> AccountCreate.Result {
        if request.username == nil { try Self.checkWithoutAddress(request) }
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

    private static func checkWithoutAddress(_ request: AccountCreate.Params) throws {
        var violations: [Violation] = []
        if request.password != nil {
            let message =
                "A password requires username, with which the user signs in. Pass username as well, or omit password: the user of a phone "
                + "number signs in with codes by SMS."
            violations.append(Violation(pointer: "/password", rule: "requires", message: message))
        }
        if request.emailVerified {
            let message = "emailVerified requires username, and none is given. Pass username, or omit emailVerified."
            violations.append(Violation(pointer: "/emailVerified", rule: "requires", message: message))
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
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
