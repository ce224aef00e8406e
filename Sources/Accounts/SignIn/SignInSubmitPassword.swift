import Contract

extension SignInService {
    /// Signs in with a password.
    ///
    /// - Throws: `InvalidPassword`, `AccountLocked`, `PasswordChangeRequired`, `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`,
    ///   `TooManyFromClient`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitPassword(_ request: SignInSubmitPassword.Params, _ call: any CallContext) throws -> SignInSubmitPassword.Result {
        let step = try flows.step(
            of: [.signIn], token: request.continuationToken, by: SignInSubmitPassword.info.name,
            with: [.string(request.password)], from: request.client
        ).named(request.clientId)
        let (now, name) = (step.now, step.method)
        let attempt = completion.signInCall(of: name, call, at: now)
        let found = try step.peek()
        if case .repeated(let flow, let tenant) = found { return try completion.answer(pending: flow, tenant) }
        try Self.requirePassword(found.flow, found.tenant)
        let subject = Self.lockoutSubject(found.flow)
        let before = try context.database.read { tx in
            let account = found.flow.isDecoy ? nil : try tx.account(found.flow.accountId)
            try tx.lockout(of: subject, at: now).check(
                at: now, unlock: found.tenant.unlock(account, of: found.flow.address, at: now, in: tx))
            return account
        }
        let match = try passwords.match(request.password, before)
        var result: (FirstFactor, TenantRecord, PendingSignIn)?
        let flow = try step.take(asking: attempt.gate) { tx, flow, tenant in
            try Self.requirePassword(flow, tenant)
            try AccessGrant.check(request.audience, request.scope, of: tenant, by: tenant.application(named: flow.application.name))
            let account = try tx.account(of: flow)
            let failures = try tx.lockout(of: subject, at: now).failures
            let isStillRight = try passwords.isStillRight(match, account)
            if let refusal = try passwords.judge(
                .init(
                    password: request.password, subject: subject, unlock: tenant.unlock(account, of: flow.address, at: now, in: tx),
                    client: step.client),
                isRight: isStillRight, tenant.lockout, at: now, in: tx)
            {
                if refusal.lockedUntil != nil, let account {
                    try context.notify(.accountLocked, AccountChange(account, tenant, language: flow.language, by: name, at: now), in: tx)
                }
                return .refused(refusal)
            }
            guard var account else { return .ended(try tx.ending(of: flow)) }
            if account.mustChangePassword { return .ended(PasswordChangeRequired(next: "passwordReset.start")) }
            try passwords.upgrade(&account, match, in: tx)
            var signIn = PendingSignIn(.password, audience: request.audience, scope: request.scope)
            signIn.failures = failures
            let outcome = try completion.conclude(account, of: tenant, with: signIn, by: attempt.within(flow), in: tx)
            result = (outcome, tenant, signIn)
            return outcome.step(&flow)
        }
        return try completion.answer(result, after: flow, at: now)
    }

    /// - Throws: `StepNotPossible` if the flow does not wait for a password. With `enumerationProtection`, it accepts a password whenever
    ///   it waits for a code.
    private static func requirePassword(_ flow: Flow, _ tenant: TenantRecord) throws {
        if flow.stage == .codeRequired, tenant.enumerationProtection, flow.phoneNumber == nil { return }
        try flow.require(.passwordRequired)
    }
}
