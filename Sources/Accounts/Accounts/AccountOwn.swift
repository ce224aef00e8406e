import Contract
import ServiceContext
import Storage

/// The methods with which users set the password of their own accounts and delete them; `AccountMe.swift` has the others.
extension AccountService {
    private func verified(_ idToken: String, at now: Int64) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(context: context, configurations: configurations).verify(idToken, .init(use: .id), now: now)
    }

    /// Sets a new password without the current one. Ends all sessions and starts a new one.
    ///
    /// - Throws: The errors of ID token verification, `RecentSignInRequired`, `SecondFactorNeeded`, `EmailNotVerified`,
    ///   `PasswordNotAccepted`, `InvalidPassword`, `AccountDisabled`, `AudienceNotOffered`, `ScopeNotOffered`; the errors of hooks.
    public func setOwnPassword(_ request: AccountSetOwnPassword.Params, _ call: any CallContext) throws -> AccountSetOwnPassword.Result {
        let (now, name) = (context.clock.now, AccountSetOwnPassword.info.name)
        let completion = SignInCompletion(context, configurations)
        let token = try verified(request.idToken, at: now)
        let (before, tenant) = try context.database.read { tx in
            let tenant = try configurations.enabledTenant(token.tenantId, in: tx)
            let own = try sensitive(token, tenant, at: now, in: tx)
            let application = tenant.application(named: own.session.grant.application)
            try AccessGrant.check(request.audience, request.scope, of: tenant, by: application)
            return (own.account, tenant)
        }
        if !tenant.localAccountMethod.permitsPasswords { throw PasswordNotAccepted() }
        guard before.username != nil, before.isEmailVerified else { throw EmailNotVerified() }
        try context.check(context.newPassword(request.newPassword, for: before, in: tenant), by: name, call)
        let sealed = try context.passwords.sealed(request.newPassword, as: before.id)
        let attempt = completion.signInCall(of: name, call, at: now)
        let signedIn = try attempt.gate.write { tx in
            let own = try sensitive(token, tenant, at: now, in: tx)
            var account = own.account
            guard account.username != nil, account.isEmailVerified else { throw EmailNotVerified() }
            account.password = sealed
            account.mustChangePassword = false
            account.method = .password
            account.updatedAt = now
            try tx.clearLockout(of: account.lockoutSubject)
            try tx.deleteSessions(of: account.id, by: .changedPassword, at: now)
            try tx.endFlows(of: account.id)
            try context.notify(.passwordChanged, AccountChange(account, tenant, by: name, at: now), in: tx)
            // Nothing proves the user again, so the new session is as old as the sign-in before it, and stays with its application.
            var proof = SignInProof.password.adding(own.session.secondFactor)
            proof.authenticatedAt = own.session.authenticatedAt
            var signIn = PendingSignIn(proof, audience: request.audience, scope: request.scope)
            signIn.application = own.session.grant.application
            return try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx)
        }
        return try completion.tokens(signedIn, tenant, at: now)
    }

    /// - Throws: The errors of ID token verification, `RecentSignInRequired`, `SecondFactorNeeded`.
    public func deleteOwn(_ request: AccountDeleteOwn.Params, _ call: any CallContext) throws -> AccountDeleteOwn.Result {
        let now = context.clock.now
        let token = try verified(request.idToken, at: now)
        try context.database.write { tx in
            let tenant = try configurations.enabledTenant(token.tenantId, in: tx)
            let account = try sensitive(token, tenant, at: now, in: tx).account
            try delete(account, by: AccountDeleteOwn.info.name, call, at: now, in: tx)
        }
        return AccountDeleteOwn.Result(accountId: token.accountId)
    }

    /// Returns the account and session of a token for a change that needs a recent sign-in.
    ///
    /// - Throws: `RecentSignInRequired`, `SecondFactorNeeded`, `TokenRevoked`, `AccountMerged`, `AccountLocked`.
    private func sensitive(
        _ token: VerifiedTenantToken, _ tenant: TenantRecord, at now: Int64, in tx: Transaction
    ) throws -> AuthenticatedAccount {
        let own = try AuthenticatedAccount(token, in: tx)
        try tx.requireUnlocked(own.account, tenant, at: now)
        if !own.isRecent(at: now) { throw own.tooOld }
        try own.requireSecondFactor(tenant, in: tx)
        return own
    }
}
