import Contract

extension SignInService {
    /// Signs in with address and password in one step.
    ///
    /// - Throws: `InvalidUsername`, and what `PasswordSignIn` throws.
    /// - Source: native-auth.md 2.3 (client composition), 1.11, 6.1.
    public func withPassword(_ request: SignInWithPassword.Params, _ call: any CallContext) throws -> SignInWithPassword.Result {
        try PasswordSignIn(surroundings, catalogue).signIn(
            try Username(request.username), request.password, in: request.tenantId, audience: request.audience,
            SignInWithPassword.info.name, call)
    }
}
