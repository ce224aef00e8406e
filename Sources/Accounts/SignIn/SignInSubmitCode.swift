import Contract

extension SignInService {
    /// Signs in with a code.
    ///
    /// - Throws: `InvalidCode`, `AccountLocked`, `AccountDisabled`, `PasswordChangeRequired`, `AudienceNotOffered`, `ScopeNotOffered`,
    ///   `TooManyFromClient`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitCode(_ request: SignInSubmitCode.Params, _ call: any CallContext) throws -> SignInSubmitCode.Result {
        let step = try flows.step(
            of: [.signIn], token: request.continuationToken, by: SignInSubmitCode.info.name,
            with: [.string(request.code)], from: request.client
        ).named(request.clientId)
        let (now, name) = (step.now, step.method)
        let attempt = completion.signInCall(of: name, call, at: now)
        var result: (FirstFactor, TenantRecord, PendingSignIn)?
        let flow = try step.take(asking: attempt.gate) { tx, flow, tenant in
            try flow.require(.codeRequired)
            try AccessGrant.check(request.audience, request.scope, of: tenant, by: tenant.application(named: flow.application.name))
            let number = flow.phoneNumber
            let subject = try number == nil ? Self.lockoutSubject(flow) : Self.lockoutSubject(ofPhone: flow, in: tx)
            let failures = try tx.lockout(of: subject, at: now).failures
            let unlock = try tenant.unlock(try tx.account(flow.accountId), of: flow.address, at: now, in: tx)
            if number != nil { try tenant.requirePhoneSignIn() }
            let check = CodeCheck(sending: sending, tenant: tenant, subject: subject, unlock: unlock, client: step.client)
            if let refusal = try check.judge(request.code, of: &flow, at: now, in: tx) {
                if refusal.lockedUntil != nil, let account = try tx.account(of: flow) {
                    try context.notify(.accountLocked, AccountChange(account, tenant, language: flow.language, by: name, at: now), in: tx)
                }
                return .refused(refusal)
            }
            if let number {
                guard let (account, isNew) = try phoneAccount(of: flow, number, tenant, by: attempt, in: tx) else {
                    return .ended(FlowEnded(.accountChanged))
                }
                var signIn = PendingSignIn(.phone, audience: request.audience, scope: request.scope, isNew: isNew)
                signIn.failures = failures
                let outcome = try completion.conclude(account, of: tenant, with: signIn, by: attempt.within(flow), in: tx)
                result = (outcome, tenant, signIn)
                return outcome.step(&flow)
            }
            guard var account = try tx.account(of: flow) else { return .ended(try tx.ending(of: flow)) }
            // With `enumerationProtection`, accounts with a password can also sign in with a code.
            if account.password != nil, account.mustChangePassword {
                return .ended(PasswordChangeRequired(next: "passwordReset.start"))
            }
            let isStored = account.hasOwnWayIn && account.isEmailVerified
            if account.hasOwnWayIn {
                account.isEmailVerified = true
            } else {
                let dropped = try tx.accountLogins(of: account.id)
                try account.reclaim(.code, at: now, in: tx)
                for login in dropped {
                    try context.notify(
                        .providerUnlinked, AccountChange(account, tenant, language: flow.language, by: name, at: now),
                        what: login.providerId, in: tx)
                }
            }
            var signIn = PendingSignIn(.code, audience: request.audience, scope: request.scope)
            signIn.failures = failures
            signIn.isAccountStored = isStored
            let outcome = try completion.conclude(account, of: tenant, with: signIn, by: attempt.within(flow), in: tx)
            result = (outcome, tenant, signIn)
            return outcome.step(&flow)
        }
        return try completion.answer(result, after: flow, at: now)
    }
}
