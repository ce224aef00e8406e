import Contract

/// Signs in with email address and password in one step, for all methods that accept them.
struct PasswordSignIn: Sendable {
    /// The application in which the user signs in.
    struct OwnApplication {
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

    /// - Parameter token: The ID token of the required account; the new session then adopts its scopes and claims. `nil` accepts any
    ///   account.
    /// - Throws: `TenantNotFound`, `UserNotFound`, `InvalidPassword`, `PasswordNotSet`, `AccountLocked`, `PasswordChangeRequired`,
    ///   `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`; with `token` also `UserMismatch` for another account, and
    ///   `TokenRevoked`.
    func signIn(
        _ username: Username, _ password: String, in tenantId: String, only token: VerifiedTenantToken? = nil, audience: String?,
        scope: String? = nil, client: ClientKey? = nil, in own: OwnApplication = OwnApplication(), _ method: String, _ call: any CallContext
    ) throws -> SignInStep {
        let now = context.clock.now
        let attempt = completion.signInCall(of: method, call, at: now)
        let (tenant, application, before, subject) = try context.database.read { tx in
            let tenant = try configurations.enabledTenant(tenantId, in: tx)
            let application =
                try token == nil
                ? ApplicationAuthentication(context).nativeApplication(own.clientId, secret: own.secret, isVerified: false, of: tenant)
                : nil
            try SignInCompletion.check(audience, scope, of: tenant, by: application)
            let account = try tx.account(named: username.folded, in: tenant.id)
            let address = "\(tenant.id)/\(username.folded)"
            let subject = account?.lockoutSubject ?? SignInService.nobody(address)
            try tx.lockout(of: subject, at: now).check(at: now, unlock: tenant.unlock(account, of: address, at: now, in: tx))
            return (tenant, application, account, subject)
        }
        let match = try passwords.match(password, before)
        if !tenant.enumerationProtection {
            guard let before else {
                if token != nil { throw UserMismatch() }
                throw try Flows(context, configurations).failed(UserNotFound(in: tenant), by: client, at: now)
            }
            if before.password == nil { throw PasswordNotSet(next: "signIn.start") }
            try passwords.requireKnown(before)
        }
        if let redirection = FlowApplication(accepts: own.accepts).redirection(for: [.password]) { return redirection.signIn }
        let outcome = try attempt.gate.write { tx -> Result<(FirstFactor, PendingSignIn), any Error> in
            var signIn = PendingSignIn(.password, audience: audience, scope: scope)
            signIn.application = application?.name
            signIn.accepts = own.accepts
            signIn.failures = try tx.lockout(of: subject, at: now).failures
            let address = "\(tenant.id)/\(username.folded)"
            try tx.lock([Flows.lockName(address: address)])
            if let before { try tx.lock([before.id]) }
            let account = try tx.account(named: username.folded, in: tenant.id)
            let isStillRight = try account?.id == before?.id && passwords.isStillRight(match, account)
            if let refusal = try passwords.judge(
                password, isRight: isStillRight, subject: subject, unlock: tenant.unlock(account, of: address, at: now, in: tx),
                client: client, tenant, at: now, in: tx)
            {
                if refusal.lockedUntil != nil, let account {
                    try context.notify(.accountLocked, account, tenant, by: method, at: now, in: tx)
                }
                return .failure(refusal)
            }
            guard var account else { return .failure(UserNotFound(in: tenant)) }
            if let token {
                if account.id != token.accountId { throw UserMismatch() }
                let session = try AuthenticatedAccount(token, in: tx).session
                signIn.proof.claims = session.claims
                signIn.take(try session.grant.continued(audience: audience, by: tenant))
            }
            if account.mustChangePassword { throw PasswordChangeRequired(next: "passwordReset.start") }
            try passwords.upgrade(&account, match, in: tx)
            return .success((try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx), signIn))
        }
        let (answered, signIn) = try outcome.get()
        return try completion.answer(answered, tenant, signIn, at: now)
    }
}
