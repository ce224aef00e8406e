import Contract
import Storage

extension SignInService {
    /// Signs in with the code of a link that was sent by email. Creates an account if none has the address.
    ///
    /// - Throws: `ActionCodeInvalid`, `ActionCodeExpired`, `InvalidUsername`, `SignUpNotAllowed`, `AccountDisabled`,
    ///   `PasswordChangeRequired`, `AudienceNotOffered`, `ScopeNotOffered`; the errors of hooks.
    public func withLink(_ request: SignInWithLink.Params, _ call: any CallContext) throws -> SignInWithLink.Result {
        let (now, name) = (context.clock.now, SignInWithLink.info.name)
        let address = try Username(request.email)
        let (attempt, newId) = (completion.signInCall(of: name, call, at: now), context.random.uuid())
        let tenant = try context.database.read { tx in
            try configurations.tenant(tx.validActionCode(request.code, at: now).tenantId, in: tx)
        }
        try AccessGrant.check(request.audience, request.scope, of: tenant)
        var signIn = PendingSignIn(.code, audience: request.audience, scope: request.scope)
        let outcome = try attempt.gate.write(isolation: .serializable) { tx in
            let record = try tx.validActionCode(request.code, at: now)
            guard record.purpose == .signIn else {
                throw ActionCodeInvalid(reason: "It does not sign in: call oob.apply.", next: "oob.apply")
            }
            guard record.email == address.folded else {
                throw ActionCodeInvalid(reason: "It was sent to another email address.", next: nil)
            }
            guard try tx.useActionCode(request.code) else { throw ActionCodeInvalid() }
            var account: AccountRecord
            if var known = try tx.account(named: address.folded, in: tenant.id) {
                try tx.lock([known.id])
                if known.isDisabled { throw AccountDisabled(accountId: known.id) }
                try reclaim(&known, tenant, by: name, at: now, in: tx)
                // A link must not keep a password alive that the developer wants replaced.
                if known.password != nil, known.mustChangePassword { throw PasswordChangeRequired(next: "passwordReset.start") }
                account = known
            } else {
                if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
                account = AccountRecord(
                    id: newId, tenantId: tenant.id, username: address.typed, email: address.typed, isEmailVerified: true, method: .code,
                    attributes: [:], createdAt: now, updatedAt: now)
                try attempt.gate.decideCreation(of: &account, tenant, provider: signIn.proof.provider, by: name, in: tx)
                guard try tx.insert(account) else { throw SerializationConflict() }
                signIn.isNew = true
            }
            return try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx)
        }
        return try completion.answer(outcome, tenant, signIn, at: now)
    }

    /// Verifies the address. If it was not verified before, another user may have created the account with it: its logins, passkeys,
    /// sessions and its password are removed.
    private func reclaim(
        _ account: inout AccountRecord, _ tenant: TenantRecord, by method: String, at now: Int64, in tx: Transaction
    ) throws {
        guard !account.isEmailVerified else { return }
        let dropped = try tx.accountLogins(of: account.id)
        try account.reclaim(.code, at: now, in: tx)
        account.password = nil
        account.mustChangePassword = false
        try tx.endFlows(of: account.id)
        for login in dropped {
            try context.notify(.providerUnlinked, AccountChange(account, tenant, by: method, at: now), what: login.providerId, in: tx)
        }
    }
}
