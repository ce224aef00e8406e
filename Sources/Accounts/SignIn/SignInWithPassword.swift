import Contract

extension SignInService {
    /// Signs in with email address and password in one step.
    ///
    /// - Throws: `TooManyFromClient`, `InvalidUsername`, and the errors of `PasswordSignIn`.
    public func withPassword(_ request: SignInWithPassword.Params, _ call: any CallContext) throws -> SignInWithPassword.Result {
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: context.clock.now)
        return try PasswordSignIn(context, configurations).signIn(
            try Username(request.username), request.password, in: request.tenantId, audience: request.audience, scope: request.scope,
            client: client, in: .init(clientId: request.clientId, secret: request.clientSecret, accepts: request.accepts),
            SignInWithPassword.info.name, call)
    }
}
