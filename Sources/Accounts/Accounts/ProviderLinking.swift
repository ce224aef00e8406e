import Contract
import Storage

/// Links the login of a provider to an account.
struct ProviderLinking: Sendable {
    let completion: SignInCompletion
    let tenant: TenantRecord
    let token: VerifiedTenantToken
    let identity: ProviderIdentity

    /// - Parameters:
    ///   - audience: The audience of the access token.
    ///   - returnsProviderTokens: Whether the result includes the provider's tokens.
    /// - Throws: `AccountMerged`, `TokenRevoked`, `SecondFactorNeeded`.
    func link(
        audience: String?, returnsProviderTokens: Bool, by attempt: SignInCompletion.SignInCall, in tx: Transaction
    ) throws -> Result<(FirstFactor, PendingSignIn), LinkRule.Refusal.Failure> {
        let now = attempt.now
        let own = try AuthenticatedAccount(token, in: tx)
        try tx.requireUnlocked(own.account, tenant, at: now)
        try own.requireSecondFactor(tenant, in: tx)
        switch LinkRule.provider(try facts(own.account, in: tx)) {
        case .failure(let failure): return .failure(failure)
        case .success(let address):
            var account = own.account
            switch address {
            case .stays: break
            case .isVerified: account.isEmailVerified = true
            case .isTaken(let name, let isVerified):
                account.username = name
                account.email = name
                account.isEmailVerified = isVerified
                guard try tx.claim(name, for: account) else { throw SerializationConflict() }
            }
            if account.method == .anonymous { account.method = .federated }
            account.updatedAt = now
            guard try tx.insert(identity.login(at: now), of: account) else { throw SerializationConflict() }
            try tx.keepGrant(of: identity, for: account, completion.context.vault)
            try tx.insertLinkEvent(identity.providerId, account, by: attempt.method, at: now)
            try completion.context.notify(
                .providerLinked, AccountChange(account, tenant, by: attempt.method, at: now), what: identity.providerId, in: tx)
            var signIn = PendingSignIn(
                proof(own, at: now), audience: nil, identity: identity, returnsProviderTokens: returnsProviderTokens)
            signIn.take(try own.session.grant.continued(audience: audience, by: tenant))
            let linked = LinkedAccount(before: own.account, after: account)
            return .success((try completion.conclude(linked, of: tenant, with: signIn, by: attempt, in: tx), signIn))
        }
    }

    /// The proof for a new session that includes the linked provider. It keeps the authentication time of the current session: linking a
    /// login with a stolen session is not a sign-in of the user. For an anonymous account, linking is the first sign-in.
    private func proof(_ own: AuthenticatedAccount, at now: Int64) -> SignInProof {
        let session = own.session
        var proof = SignInProof(
            amr: session.amr.contains("fed") ? session.amr : session.amr + ["fed"], provider: identity.providerId, claims: session.claims,
            authenticatedAt: own.account.method == .anonymous ? now : session.authenticatedAt, secondFactor: session.secondFactor)
        proof.passkeyId = session.passkeyId
        proof.acr = session.acr
        return proof
    }

    private func facts(_ account: AccountRecord, in tx: Transaction) throws -> LinkRule.Facts {
        let address = identity.address?.folded
        return LinkRule.Facts(
            accountId: account.id, providerId: identity.providerId,
            owner: try tx.owner(ofLogin: identity.subject, at: identity.providerId, in: tenant.id),
            hasProvider: try tx.accountLogins(of: account.id).contains { $0.providerId == identity.providerId },
            oneAccountPerAddress: tenant.settings.oneAccountPerAddress, ownAddress: account.email.map(Username.fold), address: address,
            addressOwner: try address.flatMap { try tx.account(named: $0, in: tenant.id)?.id }, isTrusted: identity.isEmailTrusted)
    }
}

/// An account before and after a sign-in method was linked to it.
struct LinkedAccount {
    let before: AccountRecord
    let after: AccountRecord
}

extension SignInCompletion {
    /// Starts the session after linking. An anonymous account is exempt from second factors; linking ends the exemption. It is therefore
    /// handled like a first sign-in: its earlier anonymous sessions end, and a required second factor must be verified.
    func conclude(
        _ linked: LinkedAccount, of tenant: TenantRecord, with signIn: PendingSignIn, by attempt: SignInCall, in tx: Transaction
    ) throws -> FirstFactor {
        let account = linked.after
        guard linked.before.method == .anonymous else {
            var own = PendingSignIn(signIn.proof, audience: signIn.audience, scope: signIn.scope)
            own.application = signIn.application
            return .signedIn(try begin(account, of: tenant, with: own, by: attempt, in: tx))
        }
        let outcome = try conclude(account, of: tenant, with: signIn, by: attempt, in: tx)
        if case .pending = outcome, try tx.deleteSessions(of: account.id) > 0 {
            // No audit record follows, so the event is stored here.
            _ = tx.takeRemarks()
            try tx.insertEndEvent(account, by: attempt.method, at: attempt.now)
        }
        return outcome
    }
}
