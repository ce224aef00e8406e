import Contract

extension AccountService {
    /// Returns the provider's access token for the user of an ID token, refreshed if it is about to expire.
    ///
    /// - Throws: the errors of ID token verification, `ProviderNotLinked`, `IdpNotFound`, `IdpDisabled`, `ProviderTokenNotKept`,
    ///   `ProviderTokenExpired`, `ProviderTokenRefused`, `ProviderUnavailable`, `ProviderUnusable`.
    /// - Source: RFC 6749 §6.
    public func providerToken(_ request: AccountProviderToken.Params, _ call: any CallContext) throws -> AccountProviderToken.Result {
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            request.idToken, .init(use: .id), now: context.clock.now)
        try configurations.requireUnlocked(token, context)
        var wasAsked = false
        while true {
            let (kept, idp) = try context.database.read { tx -> (StoredGrant, IdpRecord) in
                guard let kept = try tx.keptGrant(at: request.providerId, of: token.accountId) else {
                    throw ProviderNotLinked(
                        providerId: request.providerId, linked: try tx.accountLogins(of: token.accountId).map(\.providerId))
                }
                return (kept, try configurations.idp(request.providerId, of: token.tenantId, in: tx))
            }
            if !idp.settings.enabled { throw IdpDisabled(tenantId: idp.tenantId, providerId: idp.providerId) }
            guard let grant = try kept.grant(context.vault), grant.source == idp.grantSource else {
                throw ProviderTokenNotKept(providerId: idp.providerId)
            }
            switch grant.decide(for: request.minValidSeconds, at: context.clock.now) {
            case .serves: return grant.answer
            case .expired(let moment): throw ProviderTokenExpired(providerId: idp.providerId, expiresAt: moment)
            case .refused(let reason): throw ProviderTokenRefused(providerId: idp.providerId, reason: reason)
            // The token was just refreshed, so a second refresh would not return a better one.
            case .refresh where wasAsked: return grant.answer
            case .refresh(let refreshToken):
                guard let endpoint = try IdpService(context, configurations).endpoints(of: idp, call).token else {
                    throw ProviderUnusable(
                        provider: idp.providerId, check: "document", reason: "The discovery document contains no token_endpoint.")
                }
                wasAsked = try GrantRefresh(context: context, idp: idp, kept: kept).run(
                    grant, with: refreshToken, at: endpoint, call)
            }
        }
    }
}

extension ProviderGrant {
    fileprivate var answer: AccountProviderToken.Result {
        AccountProviderToken.Result(accessToken: accessToken, expiresAt: expiresAt, scopes: scopes)
    }
}
