import Contract

extension SignInService {
    /// Signs in with email address and password in one step.
    ///
    /// - Throws: `TooManyFromClient`, `InvalidUsername`, and the errors of `PasswordSignIn`.
    public func withPassword(_ request: SignInWithPassword.Params, _ call: any CallContext) throws -> SignInWithPassword.Result {
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: context.clock.now)
        return try PasswordSignIn(context, configurations).signIn(
            .init(
                username: try Username(request.username), password: request.password, tenantId: request.tenantId,
                audience: request.audience, scope: request.scope, client: client, clientId: request.clientId,
                secret: request.clientSecret, accepts: request.accepts),
            by: SignInWithPassword.info.name, call)
    }
}
