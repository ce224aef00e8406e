import Accounts
import Contract
import IdentityPools
import ServiceContext

extension TokenService {
    /// Exchanges the token of a user for an access token with less access, or for one of an actor.
    ///
    /// - Throws: A `Token…` error that names the failed check, `AudienceNotOffered`, `ScopeNotGranted`, `TokenTypeNotSupported`,
    ///   `ExchangeNotAllowed`, `ActorTokenRequired`, `ActorNotAllowed`, `DelegationTooDeep`, `SubjectTokenInvalid`.
    /// - Source: RFC 8693.
    public func exchange(_ request: TokenExchange.Params, _ call: any CallContext) throws -> TokenExchange.Result {
        try OAuthErrors.naming {
            let requested = try ExchangeType(request.requestedTokenType)
            if requested == .idToken { throw TokenTypeNotSupported(requested: request.requestedTokenType) }
            guard (request.actorToken == nil) == (request.actorTokenType == nil) else { throw ActorTokenRequired() }
            let now = context.clock.now
            let subject = try tenantToken(
                request.subjectToken, as: try ExchangeType(request.subjectTokenType), of: request.tenantId, now: now)
            var actor: (token: ExchangedToken, foreign: TrustedTokens.Token?)?
            if let token = request.actorToken, let type = request.actorTokenType {
                actor = try actorToken(token, as: try ExchangeType(type), ofTenant: subject, call, now: now)
            }
            let issued = try delegatedTokens.exchange(
                subject, actor: actor?.token,
                for: .init(
                    audiences: (request.audience ?? []) + (request.resource ?? []), scope: request.scope,
                    expiresInSeconds: request.expiresInSeconds),
                .init(method: TokenExchange.info.name, call: call, now: now) { [foreign = actor?.foreign] in try foreign?.use(in: $0) })
            return TokenExchange.Result(
                token: issued.token, issuedTokenType: requested.rawValue, tokenType: .Bearer, expiresAt: issued.expiresAt,
                scope: issued.scope)
        }
    }

    /// Returns an access token with which an actor may act for a user.
    ///
    /// - Throws: A `Token…` error that names the failed check, `AccountNotFound`, `TrustedIssuerNotFound`, `AudienceNotOffered`,
    ///   `ScopeNotGranted`, `ActorNotAllowed`.
    /// - Source: RFC 8693 section 4.4.
    public func delegate(_ request: TokenDelegate.Params, _ call: any CallContext) throws -> TokenDelegate.Result {
        try OAuthErrors.naming {
            let now = context.clock.now
            let subject = try tenantTokens.verify(request.idToken, .init(use: .id), now: now)
            if let issuer = request.actor.iss, issuer != subject.issuer {
                guard try context.database.read({ try trustedTokens.trusts(issuer, in: $0) }) else {
                    throw TrustedIssuerNotFound(issuer: issuer)
                }
            }
            let issued = try delegatedTokens.delegate(
                subject, to: request.actor,
                for: .init(audiences: request.audience ?? [], scope: request.scope, expiresInSeconds: request.expiresInSeconds),
                .init(method: TokenDelegate.info.name, call: call, now: now))
            return TokenDelegate.Result(token: issued.token, expiresAt: issued.expiresAt, scope: issued.scope)
        }
    }

    private var delegatedTokens: DelegatedTokens { DelegatedTokens(context: context, configurations: tenants) }
    private var trustedTokens: TrustedTokens { TrustedTokens(context, pools) }

    /// Verifies a token of a tenant, whose type must be the declared one.
    private func tenantToken(
        _ token: String, as type: ExchangeType, of tenantId: String?, now: Int64
    ) throws -> VerifiedTenantToken {
        let use: TokenUse? =
            switch type {
            case .accessToken: .access
            case .idToken: .id
            case .jwt: nil
            }
        let verified = try tenantTokens.verify(token, .init(tenantId: tenantId, use: use), now: now)
        if verified.use == .cookie { throw TokenUseMismatch(expected: .access, actual: .cookie) }
        try requireTrustedActors(of: verified)
        return verified
    }

    /// Verifies the token of an actor: of the subject's tenant, or of a trusted issuer.
    private func actorToken(
        _ token: String, as type: ExchangeType, ofTenant subject: VerifiedTenantToken, _ call: any CallContext, now: Int64
    ) throws -> (ExchangedToken, TrustedTokens.Token?) {
        if try trustedTokens.issuer(of: token) == subject.issuer {
            let verified = try tenantToken(token, as: type, of: subject.tenantId, now: now)
            // An API that receives an access token of the actor must not be able to act in its place.
            if verified.use == .access, !verified.audiences.contains(subject.tenantId) {
                throw TokenAudienceMismatch(expected: subject.tenantId, actual: verified.audiences)
            }
            return (ExchangedToken(verified), nil)
        }
        let foreign = try trustedTokens.verify(token, call, now: now)
        if type == .accessToken { throw TokenUseMismatch(expected: .access, actual: .workload) }
        let actor = ExchangedToken(issuer: foreign.issuer, subject: foreign.subject, expiresAt: foreign.expiresAt, claims: foreign.claims)
        return (actor, foreign)
    }

    /// Checks that the issuers of actors that are not accounts are still trusted.
    ///
    /// - Throws: `TokenRevoked`.
    func requireTrustedActors(of token: VerifiedTenantToken) throws {
        let foreign = (token.actors?.actors ?? []).filter { context.realm.owner(ofIssuer: $0.issuer)?.tenantId == nil }
        if foreign.isEmpty { return }
        try context.database.read { tx in
            for actor in foreign {
                try trustedTokens.requireTrust(in: actor.issuer, subject: actor.subject, issuedAt: token.issuedAt + 1, in: tx)
            }
        }
    }
}

/// The types of tokens that can be exchanged (RFC 8693 section 3).
private enum ExchangeType: String {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"

    /// - Throws: `TokenTypeNotSupported`.
    init(_ type: String) throws {
        guard let known = Self(rawValue: type) else { throw TokenTypeNotSupported(requested: type) }
        self = known
    }
}
