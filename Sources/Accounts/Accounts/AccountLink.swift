import Contract
import Storage

extension AccountService {
    /// Links a sign-in method to the account of an ID token.
    ///
    /// - Throws: `TooManyFromClient`, the errors of ID token and credential verification, and of `PasskeyLinking`,
    ///   `CredentialAlreadyInUse`, `EmailAlreadyInUse`,
    ///   `ProviderAlreadyLinked`, `AddressDiffers`, `RecentSignInRequired`, `SecondFactorNeeded`, `InvalidPassword`, `PasswordNotAccepted`,
    ///   `AudienceNotOffered`.
    public func link(_ request: AccountLink.Params, _ call: any CallContext) throws -> AccountLink.Result {
        try linkInPhases(request, call).value(for: call)
    }

    /// Links as `link` does. The first phase verifies the credential, for which it may wait for the user.
    public func linkInPhases(_ request: AccountLink.Params, _ call: any CallContext) throws -> Phase<AccountLink.Result> {
        let now = context.clock.now
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            request.idToken, .init(use: .id), now: now)
        let tenant = try context.database.read { try configurations.tenant(token.tenantId, in: $0) }
        try AccessGrant.check(request.audience, of: tenant)
        let client = try flows.admit(request.client, request.credential, tenantId: tenant.id, at: now)
        if var passkey = try PasskeySignIn.Request(request.credential) {
            passkey.wish = PasskeySignIn.Wish(own: token, audience: request.audience)
            passkey.client = client
            throw try PasskeyLinking(context, configurations).refusal(of: passkey, in: tenant, AccountLink.info.name, call)
        }
        return try CredentialVerifier(context, configurations)
            .prove(request.credential, in: tenant.id, for: CredentialUse(accountId: token.accountId), call, now: now)
            .then(call) { proven, call in .done(try finish(request, proven, for: (token, tenant, client), call)) }
    }

    private func finish(
        _ request: AccountLink.Params, _ proven: ProvenCredential,
        for checked: (token: VerifiedTenantToken, tenant: TenantRecord, client: ClientKey?), _ call: any CallContext
    ) throws -> AccountLink.Result {
        let now = context.clock.now
        let (proofs, completion) = (CredentialVerifier(context, configurations), SignInCompletion(context, configurations))
        let (token, tenant, client) = checked
        switch proven {
        case .password(let username, let password):
            let linking = PasswordLinking(context: context, completion: completion, tenant: tenant, token: token)
            let (outcome, signIn): (FirstFactor, PendingSignIn)
            do {
                (outcome, signIn) = try linking.link(username, password, audience: request.audience, call, at: now)
            } catch let taken as EmailAlreadyInUse { throw try flows.failed(taken, by: client, at: now) }
            return try completion.answer(outcome, tenant, signIn, at: now)
        case .passkey(let pending):
            throw try PasskeyLinking(context, configurations).refusal(of: pending, token, in: tenant)
        case .provider(let identity, let spending):
            let linking = ProviderLinking(completion: completion, tenant: tenant, token: token, identity: identity)
            let attempt = completion.signInCall(of: AccountLink.info.name, call, at: now)
            let outcome = try proofs.settling(spending) {
                try attempt.gate.write(isolation: .serializable) { tx in
                    // A credential that cannot be linked is also marked as used, because it was submitted.
                    if let spending { try tx.spend(spending) }
                    return try linking.link(
                        audience: request.audience, returnsProviderTokens: request.returnProviderTokens, by: attempt, in: tx)
                }
            }
            switch outcome {
            case .success(let (outcome, signIn)): return try completion.answer(outcome, tenant, signIn, at: now)
            case .failure(let failure):
                let pending = proofs.pending.token(of: identity, in: tenant.id, at: now)
                switch failure.refusal {
                case .credentialAlreadyInUse:
                    throw CredentialAlreadyInUse(providerId: identity.providerId, email: identity.email, pendingToken: pending)
                case .emailAlreadyInUse:
                    throw EmailAlreadyInUse(email: identity.email ?? "", providerId: identity.providerId, pendingToken: pending)
                case .providerAlreadyLinked, .addressDiffers: throw ProviderAlreadyLinked(providerId: identity.providerId)
                }
            }
        }
    }
}
