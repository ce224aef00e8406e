import Contract

/// Signs in with email address and password in one step, for all methods that accept them.
struct PasswordSignIn: Sendable {
    struct Request {
        let username: Username
        let password: String
        let tenantId: String
        /// The ID token of the required account; the new session then adopts its scopes and claims. `nil` accepts any account.
        var token: VerifiedTenantToken?
        var audience: String?
        var scope: String?
        var client: ClientKey?
        /// The application in which the user signs in.
        var clientId: String?
        var secret: String?
        var accepts: [FlowCapability]?
    }

    let context: AccountsContext
    let configurations: TenantConfigurationCache
    private let passwords: PasswordCheck
    private let completion: SignInCompletion

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        passwords = PasswordCheck(context)
        completion = SignInCompletion(context, configurations)
    }

    /// - Throws: `TenantNotFound`, `UserNotFound`, `InvalidPassword`, `PasswordNotSet`, `AccountLocked`, `PasswordChangeRequired`,
    ///   `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`; with `token` also `UserMismatch` for another account, and
    ///   `TokenRevoked`.
    func signIn(_ request: Request, by method: String, _ call: any CallContext) throws -> SignInStep {
        let now = context.clock.now
        let (username, token) = (request.username, request.token)
        let attempt = completion.signInCall(of: method, call, at: now)
        let (tenant, application, before, subject) = try context.database.read { tx in
            let tenant = try configurations.enabledTenant(request.tenantId, in: tx)
            let application =
                try token == nil
                ? ApplicationAuthentication(context).nativeApplication(
                    request.clientId, secret: request.secret, isVerified: false, of: tenant)
                : nil
            try AccessGrant.check(request.audience, request.scope, of: tenant, by: application)
            let account = try tx.account(named: username.folded, in: tenant.id)
            let address = "\(tenant.id)/\(username.folded)"
            let subject = account?.lockoutSubject ?? SignInService.nobody(address)
            try tx.lockout(of: subject, at: now).check(at: now, unlock: tenant.unlock(account, of: address, at: now, in: tx))
            return (tenant, application, account, subject)
        }
        let match = try passwords.match(request.password, before)
        if !tenant.enumerationProtection {
            guard let before else {
                if token != nil { throw UserMismatch() }
                throw try Flows(context, configurations).failed(UserNotFound(in: tenant), by: request.client, at: now)
            }
            if before.password == nil { throw PasswordNotSet(next: "signIn.start") }
            try passwords.requireKnown(before)
        }
        if let redirection = FlowApplication(accepts: request.accepts).redirection(for: [.password]) { return redirection.signIn }
        let outcome = try attempt.gate.write { tx -> Result<(FirstFactor, PendingSignIn), any Error> in
            var signIn = PendingSignIn(.password, audience: request.audience, scope: request.scope)
            signIn.application = application?.name
            signIn.accepts = request.accepts
            signIn.failures = try tx.lockout(of: subject, at: now).failures
            let address = "\(tenant.id)/\(username.folded)"
            try tx.lock([Flows.lockName(address: address)])
            if let before { try tx.lock([before.id]) }
            let account = try tx.account(named: username.folded, in: tenant.id)
            let isStillRight = try account?.id == before?.id && passwords.isStillRight(match, account)
            let unlock = try tenant.unlock(account, of: address, at: now, in: tx)
            if let refusal = try passwords.judge(
                .init(password: request.password, subject: subject, unlock: unlock, client: request.client), isRight: isStillRight,
                tenant.lockout, at: now, in: tx)
            {
                if refusal.lockedUntil != nil, let account {
                    try context.notify(.accountLocked, AccountChange(account, tenant, by: method, at: now), in: tx)
                }
                return .failure(refusal)
            }
            guard var account else { return .failure(UserNotFound(in: tenant)) }
            if let token {
                if account.id != token.accountId { throw UserMismatch() }
                let session = try AuthenticatedAccount(token, in: tx).session
                signIn.proof.claims = session.claims
                signIn.take(try session.grant.continued(audience: request.audience, by: tenant))
            }
            if account.mustChangePassword { throw PasswordChangeRequired(next: "passwordReset.start") }
            try passwords.upgrade(&account, match, in: tx)
            return .success((try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx), signIn))
        }
        let (answered, signIn) = try outcome.get()
        return try completion.answer(answered, tenant, signIn, at: now)
    }
}
