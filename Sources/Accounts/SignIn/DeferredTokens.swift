import Contract
import ServiceContext
import Storage

/// Sign-ins whose factors are verified and whose tokens a later call returns.
extension SignInService {
    /// The kinds of flows in which a sign-in can wait for its tokens.
    static let deferring: [Flow.Kind] = MfaService.enrollments

    /// Returns whether the flow of a token waits, or waited, for its tokens only.
    func hasDeferredTokens(_ token: String) throws -> Bool {
        try context.database.read { tx in
            guard let (id, _) = try? ContinuationTokens(context).read(token, in: tx), let flow = try tx.flow(id) else { return false }
            return try deferredSignIn(of: flow, in: tx) != nil
        }
    }

    /// Returns the sign-in of a flow whose tokens wait, or `nil`.
    func deferredSignIn(of flow: Flow, in tx: Transaction) throws -> PendingSignIn? {
        guard flow.stage == .completed, let sealed = try tx.factorStep(of: flow.id)?.signIn else { return nil }
        let signIn = try PendingSignIn(sealed, of: flow.id, context.vault)
        return signIn.isDeferred ? signIn : nil
    }
}

extension SignInService {
    /// Returns this service for an API that gives out the right to the tokens before the tokens.
    package var deferringTokens: Self {
        var copy = self
        copy.completion.defersTokens = true
        return copy
    }

    /// - Throws: `AudienceNotOffered`, `ScopeNotOffered` if an application cannot get an access token.
    package func requireOffered(_ scope: String?, for audience: String?, of tenant: TenantRecord, to clientId: String) throws {
        try AccessGrant.check(audience, scope, of: tenant, by: tenant.application(clientId))
    }

    /// Starts the flow of the second factor that a session lacks. The refresh token stays valid.
    ///
    /// - Throws: `RefreshTokenInvalid`, `RefreshTokenExpired`, `SecondFactorRequired` if the session lacks nothing any more.
    package func secondFactor(ofRefreshToken token: String, _ method: String, _ call: any CallContext) throws -> SignInStep {
        let now = context.clock.now
        let attempt = completion.signInCall(of: method, call, at: now)
        guard let session = try session(ofRefreshToken: token) else { throw RefreshTokenInvalid() }
        let (outcome, tenant) = try attempt.gate.write { tx in
            guard let session = try tx.session(session.id), let account = try tx.account(session.accountId) else {
                throw RefreshTokenInvalid()
            }
            let tenant = try configurations.tenant(account.tenantId, in: tx)
            var signIn = PendingSignIn(session.proof, audience: nil)
            signIn.take(session.grant)
            let outcome = try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx)
            guard case .pending = outcome else { throw SecondFactorRequired() }
            return (outcome, tenant)
        }
        return try completion.answer(outcome, tenant, PendingSignIn(session.proof, audience: nil), at: now)
    }
}
