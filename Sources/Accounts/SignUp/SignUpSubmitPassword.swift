import Contract

extension SignUpService {
    /// Accepts a password, before the code or when it is requested.
    ///
    /// - Throws: `InvalidPassword`, `PasswordNotAccepted`, `UserAlreadyExists`, `SignUpNotAllowed`, `TooManyFromClient`,
    ///   `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitPassword(_ request: SignUpSubmitPassword.Params, _ call: any CallContext) throws -> SignUpSubmitPassword.Result {
        let now = context.clock.now
        _ = try flows.admit(request.client, token: request.continuationToken, at: now)
        let (token, name) = (request.continuationToken, SignUpSubmitPassword.info.name)
        let fingerprint = flows.fingerprint(name, [.string(token), .string(request.password)])
        let found = try flows.peek(token, [.signUp], request: fingerprint, at: now)
        var sealed: [UInt8]?
        if case .current(let flow, let tenant) = found, tenant.settings.signUpAllowed {
            let method = tenant.settings.localAccountMethod
            _ = try SignUpTransition.decide(flow.signUpState, .password, method, tenant.attributes)
            // If the tenant disabled passwords after requesting this one, the password is not validated.
            if method != .emailCode {
                try check(
                    request.password, tenant, address: flow.username, attributes: flow.attributes, of: flow.accountId, name, call)
                sealed = try context.passwords.sealed(request.password, as: flow.accountId)
            }
        }
        return try advance(token, request: fingerprint, name, call, password: sealed) { _, _, _ in (.password, nil) }
    }
}
