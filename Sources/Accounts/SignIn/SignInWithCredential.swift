import Contract

extension SignInService {
    /// Signs in with a provider credential, with a pending token, or with email address and password.
    ///
    /// - Throws: `TooManyFromClient`, `ClientUnknown`, `ClientSecretInvalid`, the errors of credential verification, `AccountDisabled`,
    ///   `SignUpNotAllowed`, `AudienceNotOffered`,
    ///   `ScopeNotOffered`, and the errors of `PasswordSignIn`.
    public func withCredential(_ request: SignInWithCredential.Params, _ call: any CallContext) throws -> SignInWithCredential.Result {
        try withCredentialInPhases(request, call).value(for: call)
    }

    /// Signs in as `withCredential` does. The first phase verifies the credential, for which it may wait for the user.
    public func withCredentialInPhases(
        _ request: SignInWithCredential.Params, _ call: any CallContext
    ) throws -> Phase<SignInWithCredential.Result> {
        let now = context.clock.now
        let (name, proofs) = (SignInWithCredential.info.name, CredentialVerifier(context, configurations))
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        let application = try IdpFlowApplication(context).application(of: request.credential, request.clientId, in: tenant)
        _ = try ApplicationAuthentication(context).isAuthenticated(application, by: request.clientSecret)
        try AccessGrant.check(request.audience, request.scope, of: tenant, by: application)
        let client = try flows.admit(request.client, request.credential, tenantId: tenant.id, at: now)
        if var passkey = try PasskeySignIn.Request(request.credential) {
            passkey.wish = request.wish(in: application)
            passkey.client = client
            return .done(try PasskeySignIn(context, configurations).signIn(passkey, in: tenant.id, name, call))
        }
        let use = CredentialUse(application: application)
        return try proofs.prove(request.credential, in: tenant.id, for: use, call, now: now).then(call) { proven, call in
            .done(try finish(request, proven, in: (tenant, application), client: client, call))
        }
    }

    private func finish(
        _ request: SignInWithCredential.Params, _ proven: ProvenCredential,
        in place: (tenant: TenantRecord, application: ApplicationRecord),
        client: ClientKey?, _ call: any CallContext
    ) throws -> SignInWithCredential.Result {
        let (now, (tenant, application)) = (context.clock.now, place)
        let (name, proofs) = (SignInWithCredential.info.name, CredentialVerifier(context, configurations))
        switch proven {
        case .password(let username, let password):
            return try PasswordSignIn(context, configurations).signIn(
                .init(
                    username: username, password: password, tenantId: tenant.id, audience: request.audience, scope: request.scope,
                    client: client, clientId: request.clientId, secret: request.clientSecret),
                by: name, call)
        case .passkey(let pending):
            return try PasskeyLinking(context, configurations).signIn(pending, for: request.wish(in: application), in: tenant, name, call)
        case .provider(let identity, let spending):
            let (attempt, newId) = (completion.signInCall(of: name, call, at: now), context.random.uuid())
            var signIn = PendingSignIn(
                .provider(identity.providerId), audience: request.audience, scope: request.scope, identity: identity,
                returnsProviderTokens: request.returnProviderTokens)
            signIn.application = application.name
            let accounts = FederatedAccounts(context: context, tenant: tenant, identity: identity, now: now, gate: attempt.gate)
            // Serializable: the decision depends on rows that concurrent transactions may write.
            let outcome = try proofs.settling(spending) {
                try attempt.gate.write(isolation: .serializable) { tx -> FederatedOutcome in
                    if let spending { try tx.spend(spending) }
                    switch try accounts.resolve(newId: newId, name, call, in: tx) {
                    case .providerRequired(let holder):
                        return .providerRequired(try OtherWays(into: holder, tenant, configurations, in: tx))
                    case .pending(let account):
                        signIn.awaitsLink = true
                        return .signedIn(try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx), signIn)
                    case .account(let account, let isNew):
                        try tx.keepGrant(of: identity, for: account, context.vault)
                        signIn.isNew = isNew
                        return .signedIn(try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx), signIn)
                    }
                }
            }
            switch outcome {
            case .signedIn(let outcome, let signIn): return try completion.answer(outcome, tenant, signIn, at: now)
            case .providerRequired(let ways):
                return .providerRequired(
                    .init(
                        expiresAt: now + PendingTokens.lifetimeSeconds, next: ways.next,
                        methods: ways.methods.isEmpty ? nil : ways.methods, providers: ways.providers, email: identity.email,
                        pendingToken: proofs.pending.token(of: identity, in: tenant.id, at: now)))
            }
        }
    }
}

extension SignInWithCredential.Params {
    /// The options of a sign-in with a passkey.
    fileprivate func wish(in application: ApplicationRecord) -> PasskeySignIn.Wish {
        PasskeySignIn.Wish(audience: audience, scope: scope, application: application.name)
    }
}

private enum FederatedOutcome {
    case signedIn(FirstFactor, PendingSignIn)
    case providerRequired(OtherWays)
}
