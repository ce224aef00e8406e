import Contract
import Storage

extension SignInService {
    /// Creates an account without a sign-in method and signs in to it.
    ///
    /// - Throws: `TenantNotFound`, `AnonymousNotAllowed`, `SignUpNotAllowed`, `AudienceNotOffered`, `ScopeNotOffered`, `TooManyFromClient`.
    public func anonymously(_ request: SignInAnonymously.Params, _ call: any CallContext) throws -> SignInAnonymously.Result {
        let now = context.clock.now
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        if !tenant.settings.anonymousAllowed { throw AnonymousNotAllowed(tenantId: tenant.id) }
        if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
        try AccessGrant.check(request.audience, request.scope, of: tenant)
        _ = try flows.admit(request.client, tenantId: tenant.id, at: now)
        let attempt = completion.signInCall(of: SignInAnonymously.info.name, call, at: now)
        let fresh = AccountRecord(
            id: context.random.uuid(), tenantId: tenant.id, username: nil, email: nil, isEmailVerified: false, method: .anonymous,
            attributes: [:], createdAt: now, updatedAt: now)
        var signIn = PendingSignIn(.anonymous, audience: request.audience, scope: request.scope, isNew: true)
        signIn.isAccountStored = true
        let signedIn = try attempt.gate.write { [signIn] tx in
            var account = fresh
            try attempt.gate.decideCreation(
                of: &account, tenant, provider: SignInProof.anonymous.provider, by: attempt.method, in: tx)
            guard try tx.insert(account) else { throw SerializationConflict() }
            return try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx)
        }
        return try completion.answer(signedIn, tenant, after: signIn, at: now)
    }
}
