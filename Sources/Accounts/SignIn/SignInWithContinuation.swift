import Contract

extension SignInService {
    /// Signs in with the token of a completed sign-up, password reset or change of address. The token is single-use.
    ///
    /// - Throws: `TooManyFromClient`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`, `AccountLocked`,
    ///   `AccountDisabled`, `PasswordChangeRequired`, `AudienceNotOffered`, `ScopeNotOffered`.
    public func withContinuation(
        _ request: SignInWithContinuation.Params, _ call: any CallContext
    ) throws -> SignInWithContinuation.Result {
        let continues: [Flow.Kind] = [.signUp, .passwordReset, .emailChange]
        let step = try flows.step(
            of: continues + (try hasDeferredTokens(request.continuationToken) ? Self.deferring : []), token: request.continuationToken,
            by: SignInWithContinuation.info.name, with: [], from: request.client
        ).named(request.clientId)
        let now = step.now
        let attempt = completion.signInCall(of: step.method, call, at: now)
        var result: (FirstFactor, TenantRecord, PendingSignIn)?
        let flow = try step.take(asking: attempt.gate) { tx, flow, tenant in
            let deferred = try deferredSignIn(of: flow, in: tx)
            if deferred == nil, !continues.contains(flow.kind) { throw ContinuationTokenInvalid() }
            try flow.require(.completed)
            if let username = request.username, Username.fold(username) != Username.fold(flow.username) {
                throw ContinuationTokenInvalid(
                    reason: "username does not match the email address of the flow. Omit it, or pass that address.")
            }
            try AccessGrant.check(request.audience, request.scope, of: tenant, by: tenant.application(named: flow.application.name))
            guard let account = try deferred == nil ? tx.account(of: flow) : tx.account(flow.accountId) else {
                return .ended(try tx.ending(of: flow))
            }
            try tx.lockout(of: account.lockoutSubject, at: now).check(
                at: now, unlock: tenant.unlock(account, of: account.address, at: now, in: tx))
            if account.mustChangePassword { throw PasswordChangeRequired(next: "passwordReset.start") }
            if var signIn = deferred {
                signIn.audience = request.audience ?? signIn.audience
                signIn.scope = request.scope ?? signIn.scope
                if signIn.contexts.isEmpty, signIn.proof.secondFactor != nil {
                    signIn.contexts = tenant.known(completion.requestedContexts)
                }
                result = (.signedIn(try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx)), tenant, signIn)
                return .finished
            }
            // The code verified the address. Setting a password during the flow is not a proof of the user, so it does not count.
            let signIn = PendingSignIn(.code, audience: request.audience, scope: request.scope, isNew: flow.kind == .signUp)
            let outcome = try completion.conclude(account, of: tenant, with: signIn, by: attempt.within(flow), in: tx)
            result = (outcome, tenant, signIn)
            return outcome.step(&flow)
        }
        return try completion.answer(result, after: flow, at: now)
    }
}
