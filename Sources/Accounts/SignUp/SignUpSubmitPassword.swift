import Contract

extension SignUpService {
    /// Accepts a password, before the code or when it is requested.
    ///
    /// - Throws: `InvalidPassword`, `PasswordNotAccepted`, `UserAlreadyExists`, `SignUpNotAllowed`, `TooManyFromClient`,
    ///   `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitPassword(_ request: SignUpSubmitPassword.Params, _ call: any CallContext) throws -> SignUpSubmitPassword.Result {
        let step = try flows.step(
            of: [.signUp], token: request.continuationToken, by: SignUpSubmitPassword.info.name,
            with: [.string(request.password)], from: request.client
        ).named(request.clientId)
        let found = try step.peek()
        var sealed: [UInt8]?
        if case .current(let flow, let tenant) = found, tenant.settings.signUpAllowed {
            let method = tenant.localAccountMethod
            _ = try SignUpTransition.decide(flow.signUpState, .password, method, attributes: tenant.attributes)
            // If the tenant disabled passwords after requesting this one, the password is not validated.
            if method.permitsPasswords {
                let words = ContextWords(addresses: [flow.username], attributes: flow.attributes, tenant)
                try check(
                    NewPassword(text: request.password, tenant: tenant, words: words, accountId: flow.accountId), by: step.method, call)
                sealed = try context.passwords.sealed(request.password, as: flow.accountId)
            }
        }
        return try take(step, call, password: sealed) { _, _, _ in (.password, nil) }
    }
}
