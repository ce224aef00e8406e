import Contract

extension AccountService {
    /// Reauthenticates the user of an ID token. Starts a new session with the scopes of the current one; other sessions continue. Unlike a
    /// sign-in, it creates no account, links nothing, and never signs in to another account.
    ///
    /// - Throws: `TooManyFromClient`, the errors of ID token and credential verification, `UserMismatch`, `AccountDisabled`, and the errors
    ///   of `PasswordSignIn`.
    public func reauthenticate(_ request: AccountReauthenticate.Params, _ call: any CallContext) throws -> AccountReauthenticate.Result {
        try reauthenticateInPhases(request, call).value(for: call)
    }

    /// Reauthenticates as `reauthenticate` does. The first phase verifies the credential, for which it may wait for the user.
    public func reauthenticateInPhases(
        _ request: AccountReauthenticate.Params, _ call: any CallContext
    ) throws -> Phase<AccountReauthenticate.Result> {
        let (now, name) = (context.clock.now, AccountReauthenticate.info.name)
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            request.idToken, .init(use: .id), now: now)
        let tenant = try context.database.read { try configurations.tenant(token.tenantId, in: $0) }
        try AccessGrant.check(request.audience, of: tenant)
        let client = try flows.admit(request.client, request.credential, tenantId: tenant.id, at: now)
        let proofs = CredentialVerifier(context, configurations)
        if var passkey = try PasskeySignIn.Request(request.credential) {
            passkey.wish = PasskeySignIn.Wish(own: token, audience: request.audience)
            passkey.client = client
            return .done(try PasskeySignIn(context, configurations).signIn(passkey, in: tenant.id, name, call))
        }
        let use = CredentialUse(accountId: token.accountId)
        return try proofs.prove(request.credential, in: tenant.id, for: use, call, now: now).then(call) { proven, call in
            .done(try finish(request, proven, for: (token, tenant, client), call))
        }
    }

    private func finish(
        _ request: AccountReauthenticate.Params, _ proven: ProvenCredential,
        for checked: (token: VerifiedTenantToken, tenant: TenantRecord, client: ClientKey?), _ call: any CallContext
    ) throws -> AccountReauthenticate.Result {
        let (now, name) = (context.clock.now, AccountReauthenticate.info.name)
        let completion = SignInCompletion(context, configurations)
        let proofs = CredentialVerifier(context, configurations)
        let (token, tenant, client) = checked
        switch proven {
        case .password(let username, let password):
            return try PasswordSignIn(context, configurations).signIn(
                .init(
                    username: username, password: password, tenantId: tenant.id, token: token, audience: request.audience, client: client),
                by: name, call)
        case .passkey(let pending):
            let wish = PasskeySignIn.Wish(own: token, audience: request.audience)
            return try PasskeyLinking(context, configurations).signIn(pending, for: wish, in: tenant, name, call)
        case .provider(let identity, let spending):
            let attempt = completion.signInCall(of: name, call, at: now)
            let outcome = try proofs.settling(spending) {
                try attempt.gate.write { tx -> Result<(FirstFactor, PendingSignIn), UserMismatch> in
                    if let spending { try tx.spend(spending) }
                    let own = try AuthenticatedAccount(token, in: tx)
                    guard try tx.owner(ofLogin: identity.subject, at: identity.providerId, in: tenant.id) == own.account.id else {
                        return .failure(UserMismatch())
                    }
                    try tx.update(identity.login(at: now), of: own.account.id)
                    try tx.keepGrant(of: identity, for: own.account, context.vault)
                    var proof = SignInProof.provider(identity.providerId)
                    proof.claims = own.session.claims
                    var signIn = PendingSignIn(
                        proof, audience: nil, identity: identity, returnsProviderTokens: request.returnProviderTokens)
                    signIn.take(try own.session.grant.continued(audience: request.audience, by: tenant))
                    return .success((try completion.conclude(own.account, of: tenant, with: signIn, by: attempt, in: tx), signIn))
                }
            }
            let (answered, signIn) = try outcome.get()
            return try completion.answer(answered, tenant, signIn, at: now)
        }
    }
}
