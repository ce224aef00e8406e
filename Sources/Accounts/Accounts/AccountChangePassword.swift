import Contract

extension AccountService {
    /// Changes the password of the user of an ID token after verifying the current password. Ends all sessions and starts a new one.
    ///
    /// - Throws: the errors of ID token verification, `InvalidPassword` if the current password is wrong or the new one violates the
    ///   policy, `PasswordNotSet`, `SecondFactorNeeded`, `AccountLocked`, `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`.
    public func changePassword(_ request: AccountChangePassword.Params, _ call: any CallContext) throws -> AccountChangePassword.Result {
        let (now, name) = (context.clock.now, AccountChangePassword.info.name)
        let (check, completion) = (PasswordCheck(context), SignInCompletion(context, configurations))
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            request.idToken, .init(use: .id), now: now)
        let (before, tenant) = try context.database.read { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            let (account, tenant) = (own.account, try configurations.tenant(token.tenantId, in: tx))
            try own.requireSecondFactor(tenant, in: tx)
            let application = tenant.application(named: own.session.grant.application)
            try AccessGrant.check(request.audience, request.scope, of: tenant, by: application)
            try tx.lockout(of: account.lockoutSubject, at: now).check(
                at: now, unlock: tenant.unlock(account, of: account.address, at: now, in: tx))
            return (account, tenant)
        }
        if before.password == nil { throw PasswordNotSet(next: "signIn.start") }
        try check.requireKnown(before)
        let match = try check.match(request.currentPassword, before)
        // Check the new password only if the current one is correct, so that the policy is not revealed otherwise.
        if match.isRight {
            try context.check(
                context.newPassword(request.newPassword, for: before, in: tenant), by: AccountChangePassword.info.name, call)
        }
        let sealed = try context.passwords.sealed(request.newPassword, as: before.id)
        let attempt = completion.signInCall(of: name, call, at: now)
        let outcome = try attempt.gate.write { tx -> Result<SignInCompletion.SignedIn, InvalidPassword> in
            let own = try AuthenticatedAccount(token, in: tx)
            try own.requireSecondFactor(tenant, in: tx)
            var account = own.account
            let unlock = try tenant.unlock(account, of: account.address, at: now, in: tx)
            let refusal = try check.judge(
                .init(password: request.currentPassword, subject: account.lockoutSubject, unlock: unlock),
                isRight: try check.isStillRight(match, account), tenant.lockout, at: now, in: tx)
            if let refusal {
                if refusal.lockedUntil != nil {
                    try context.notify(.accountLocked, AccountChange(account, tenant, by: name, at: now), in: tx)
                }
                return .failure(refusal)
            }
            account.password = sealed
            account.mustChangePassword = false
            account.updatedAt = now
            try tx.deleteSessions(of: account.id, by: .changedPassword, at: now)
            try tx.endFlows(of: account.id)
            try context.notify(.passwordChanged, AccountChange(account, tenant, by: name, at: now), in: tx)
            var proof = SignInProof.password.adding(own.session.secondFactor)
            // Only a sign-in with all factors begins the absolute lifetime of a session again.
            if proof.secondFactor != nil, tenant.tokens.sessionSeconds != nil { proof.authenticatedAt = own.session.authenticatedAt }
            var signIn = PendingSignIn(proof, audience: request.audience, scope: request.scope)
            signIn.application = own.session.grant.application
            return .success(try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx))
        }
        return try completion.tokens(try outcome.get(), tenant, at: now)
    }
}
