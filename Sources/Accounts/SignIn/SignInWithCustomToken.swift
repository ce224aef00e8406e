import Contract
import ServiceContext
import Storage

extension SignInService {
    /// Signs in the user of a custom token that a trusted backend has signed. Requires no other proof, and creates the account if it does
    /// not exist.
    ///
    /// - Throws: `TenantNotFound`, `CustomTokenInvalid`, `ClaimNameReserved`, `ClaimsTooLong`, `AccountDisabled`, `AudienceNotOffered`,
    ///   `ScopeNotOffered`, `AccountMerged`.
    public func withCustomToken(_ request: SignInWithCustomToken.Params, _ call: any CallContext) throws -> SignInWithCustomToken.Result {
        let now = context.clock.now
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        try AccessGrant.check(request.audience, request.scope, of: tenant)
        let token = try CustomToken(
            request.token, signers: tenant.settings.customTokenSigners ?? [], tenantId: tenant.id,
            audience: context.realm.issuer(of: .tenant(tenant.id)), now: now)
        let attempt = completion.signInCall(of: SignInWithCustomToken.info.name, call, at: now)
        let (signedIn, signIn) = try attempt.gate.write { tx in
            try tx.lock([token.accountId])
            let known = try tx.account(token.accountId)
            if let known, known.tenantId != tenant.id {
                throw CustomTokenInvalid(check: "subject", reason: "Its uid is the ID of an account of another tenant.")
            }
            try known?.requireUser("agents get tokens by token.exchange only")
            // The ID of a merged account must not create a new account.
            if known == nil { try tx.requireUnmerged(token.accountId) }
            var account =
                known
                ?? AccountRecord(
                    id: token.accountId, tenantId: tenant.id, username: nil, email: nil, isEmailVerified: false, method: .custom,
                    attributes: [:], createdAt: now, updatedAt: now)
            if known == nil {
                try attempt.gate.decideCreation(
                    of: &account, tenant, provider: SignInProof.customProvider, by: attempt.method, in: tx)
            }
            if known == nil, try !tx.insert(account) { throw SerializationConflict() }
            let signIn = PendingSignIn(.custom(token.claims), audience: request.audience, scope: request.scope, isNew: known == nil)
            return (try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx), signIn)
        }
        return try completion.answer(signedIn, tenant, after: signIn, at: now)
    }
}
