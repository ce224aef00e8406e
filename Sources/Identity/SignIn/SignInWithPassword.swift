import Contract

extension SignInService {
    /// Signs in with address and password in one step.
    ///
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserNotFound`, `InvalidPassword`, `PasswordNotSet`, `AccountLocked`,
    ///   `PasswordChangeRequired`, `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`.
    /// - Source: native-auth.md 2.3 (client composition), 1.11, 6.1.
    public func withPassword(_ request: SignInWithPassword.Params, _ call: any CallContext) throws -> SignInWithPassword.Result {
        let now = surroundings.clock.now
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: now)
        let fresh = completion.fresh()
        let username = try Username(request.username)
        let (tenant, before, subject) = try surroundings.database.read { tx in
            let tenant = try catalogue.tenant(request.tenantId, in: tx)
            try SignInCompletion.check(request.audience, request.scope, of: tenant)
            let account = try tx.account(named: username.folded, in: tenant.id)
            let subject = account?.lockoutSubject ?? Self.nobody("\(tenant.id)/\(username.folded)")
            try tx.lockout(of: subject, at: now).check(at: now, unlock: tenant.unlock(account))
            return (tenant, account, subject)
        }
        let isRight = try passwords.matches(request.password, before)
        if !tenant.settings.enumerationProtection {
            guard let before else { throw try flows.failed(UserNotFound(next: "signUp.start"), by: client, at: now) }
            if before.password == nil { throw PasswordNotSet(next: "signIn.start") }
        }
        let outcome = try surroundings.database.write { tx -> Result<SignInCompletion.SignedIn, any Error> in
            try tx.lock([Flows.lockName(address: "\(tenant.id)/\(username.folded)")])
            if let before { try tx.lock([before.id]) }
            let account = try tx.account(named: username.folded, in: tenant.id)
            let isStillRight = isRight && account?.id == before?.id && account?.password == before?.password
            if let refusal = try passwords.judge(
                request.password, isRight: isStillRight, subject: subject, unlock: tenant.unlock(account), client: client, tenant, at: now,
                in: tx)
            {
                return .failure(refusal)
            }
            guard let account else { return .failure(UserNotFound(next: "signUp.start")) }
            if account.mustChangePassword { throw PasswordChangeRequired(next: "passwordReset.start") }
            return .success(
                try completion.begin(
                    account, tenant, amr: ["pwd"], scope: request.scope, fresh, SignInWithPassword.info.name, call, at: now, in: tx))
        }
        return try completion.answer(try outcome.get(), tenant, audience: request.audience, isNew: false, at: now)
    }
}
