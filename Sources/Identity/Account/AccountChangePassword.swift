import Contract

extension AccountService {
    /// Changes the password of whoever shows an ID token and the present password. Every session ends; a new one begins.
    ///
    /// - Throws: what verifying the ID token throws, `InvalidPassword` for a wrong present one and for a new one that breaks rules,
    ///   `PasswordNotSet`, `AccountLocked`, `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`.
    /// - Source: native-auth.md 1.7, 1.11.
    public func changePassword(_ request: AccountChangePassword.Params, _ call: any CallContext) throws -> AccountChangePassword.Result {
        let now = surroundings.clock.now
        let (check, completion) = (PasswordCheck(surroundings), SignInCompletion(surroundings, catalogue))
        let token = try TenantTokenVerifier(surroundings: surroundings, catalogue: catalogue).verify(
            request.idToken, .init(use: .id), now: now)
        let (before, tenant) = try surroundings.database.read { tx in
            guard let account = try tx.account(token.accountId) else { throw try tx.loss(ofAccount: token.accountId) }
            let tenant = try catalogue.tenant(token.tenantId, in: tx)
            try tx.lockout(of: account.lockoutSubject, at: now).check(
                at: now, unlock: tenant.unlock(account, of: account.address, at: now, in: tx))
            return (account, tenant)
        }
        try SignInCompletion.check(request.audience, request.scope, of: tenant)
        if before.password == nil { throw PasswordNotSet(next: "signIn.start") }
        let match = try check.match(request.currentPassword, before)
        // Who does not know the present one learns nothing about what the new one would have to be.
        if match.isRight { try surroundings.checkNew(request.newPassword, for: before, tenant, AccountChangePassword.info.name, call) }
        let sealed = try surroundings.passwords.sealed(request.newPassword, as: before.id)
        let fresh = completion.fresh()
        let outcome = try surroundings.database.write { tx -> Result<SignInCompletion.SignedIn, InvalidPassword> in
            try tx.lock([before.id])
            guard var account = try tx.account(before.id) else { throw try tx.loss(ofAccount: before.id) }
            let refusal = try check.judge(
                request.currentPassword, isRight: try check.isStillRight(match, account), subject: account.lockoutSubject,
                unlock: tenant.unlock(account, of: account.address, at: now, in: tx), tenant, at: now, in: tx)
            if let refusal { return .failure(refusal) }
            account.password = sealed
            account.mustChangePassword = false
            account.updatedAt = now
            let shown = try tx.session(token.sessionId)?.secondFactor
            _ = try tx.deleteSessions(of: account.id)
            try tx.endFlows(of: account.id)
            return .success(
                try completion.begin(
                    account, tenant, .password.adding(shown), scope: request.scope, fresh, AccountChangePassword.info.name, call, at: now,
                    in: tx))
        }
        return try completion.tokens(try outcome.get(), tenant, audience: request.audience, at: now)
    }
}
