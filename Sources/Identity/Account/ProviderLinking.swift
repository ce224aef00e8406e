import Contract
import Storage

/// Adds a login of a provider to an account.
struct ProviderLinking: Sendable {
    let completion: SignInCompletion
    let tenant: TenantRecord
    let token: VerifiedTenantToken
    let identity: ProviderIdentity

    /// - Throws: `TokenRevoked`.
    func link(
        _ fresh: SignInCompletion.Fresh, _ call: any CallContext, at now: Int64, in tx: Transaction
    ) throws -> Result<SignInCompletion.SignedIn, LinkRule.Refusal.Failure> {
        let own = try OwnAccount(token, in: tx)
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
                guard try tx.claim(name, for: account) else { throw Overtaken() }
            }
            if account.method == .anonymous { account.method = .federated }
            account.updatedAt = now
            guard try tx.insert(identity.login(at: now), of: account) else { throw Overtaken() }
            try tx.keepGrant(of: identity, for: account, completion.surroundings.vault)
            return .success(
                try completion.begin(
                    account, tenant, proof(own, at: now), scope: try own.session.scope(in: tenant), fresh, AccountLink.info.name, call,
                    at: now, in: tx))
        }
    }

    /// A new session that names what was linked. It is as old as the one that asked for it: whoever has got hold of somebody's session and
    /// links a login of their own has not signed in as that person. Who was anonymous signs in by this.
    private func proof(_ own: OwnAccount, at now: Int64) -> SignInProof {
        let session = own.session
        return SignInProof(
            amr: session.amr.contains("fed") ? session.amr : session.amr + ["fed"], provider: identity.providerId, claims: session.claims,
            authenticatedAt: own.account.method == .anonymous ? now : session.authenticatedAt, secondFactor: session.secondFactor)
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
