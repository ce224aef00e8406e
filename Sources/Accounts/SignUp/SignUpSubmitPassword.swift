import Contract

extension SignUpService {
    /// Takes a password, before the code or when it is asked for.
    ///
    /// - Throws: `InvalidPassword`, `PasswordNotAccepted`, `UserAlreadyExists`, `SignUpNotAllowed`, `TooManyFromClient`,
    ///   `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    /// - Source: native-auth.md 2.1, continue(password); 1.7.
    public func submitPassword(_ request: SignUpSubmitPassword.Params, _ call: any CallContext) throws -> SignUpSubmitPassword.Result {
        let now = surroundings.clock.now
        _ = try flows.admit(request.client, token: request.continuationToken, at: now)
        let (token, name) = (request.continuationToken, SignUpSubmitPassword.info.name)
        let fingerprint = flows.fingerprint(name, [.string(token), .string(request.password)])
        let found = try flows.peek(token, [.signUp], request: fingerprint, at: now)
        var sealed: [UInt8]?
        if case .current(let flow, let tenant) = found, tenant.settings.signUpAllowed {
            let method = tenant.settings.localAccountMethod
            _ = try SignUpTransition.decide(flow.signUpState, .password, method, tenant.attributes)
            // One that was asked for before the tenant stopped taking any is not looked at.
            if method != .emailCode {
                try check(
                    request.password, tenant, address: flow.username, attributes: flow.attributes, of: flow.accountId, name, call)
                sealed = try surroundings.passwords.sealed(request.password, as: flow.accountId)
            }
        }
        return try advance(token, request: fingerprint, name, call, password: sealed) { _, _, _ in (.password, nil) }
    }
}
