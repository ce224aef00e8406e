import Accounts
import Contract
import IdentityPools
import JSON
import ServiceContext

extension TokenService {
    /// Exchanges the token of a user for an access token with less access, or for one of an actor.
    ///
    /// - Throws: A `Token…` error that names the failed check, `AudienceNotOffered`, `ScopeNotGranted`, `TokenTypeNotSupported`,
    ///   `ExchangeNotAllowed`, `ActorTokenRequired`, `ActorNotAllowed`, `DelegationTooDeep`, `SubjectTokenInvalid`.
    /// - Source: RFC 8693.
    public func exchange(_ request: TokenExchange.Params, _ call: any CallContext) throws -> TokenExchange.Result {
        let requested = ExchangeType(rawValue: request.requestedTokenType)
        return try OAuthErrors.naming(requested == .idJag ? .assertion : .exchange) {
            guard let requested, requested != .idToken, requested != .refreshToken else {
                throw TokenTypeNotSupported(requested: request.requestedTokenType)
            }
            guard (request.actorToken == nil) == (request.actorTokenType == nil) else { throw ActorTokenRequired() }
            if requested == .idJag { return try assertion(request, call) }
            if requested == .transaction { return try transaction(request, call) }
            let type = try ExchangeType(request.subjectTokenType)
            let now = context.clock.now
            let issued: DelegatedTokens.Issued
            var wish = DelegationRule.Wish(
                audiences: (request.audience ?? []) + (request.resource ?? []), scope: request.scope,
                expiresInSeconds: request.expiresInSeconds)
            if try type == .jwt && isForeign(request.subjectToken, to: request.tenantId) {
                issued = try exchangeForeign(request, wish, call, now: now)
            } else {
                let subject = try tenantToken(request.subjectToken, as: type, of: request.tenantId, now: now)
                try authenticate(request.clientId, request.clientSecret, of: subject.tenantId)
                let actor = try actor(request, ofTenant: subject.tenantId, call, now: now)
                wish.actor = actor?.token
                issued = try delegatedTokens.exchange(
                    subject, for: wish,
                    .init(method: TokenExchange.info.name, call: call, now: now) { [foreign = actor?.foreign] in
                        try foreign?.use(in: $0)
                    })
            }
            return TokenExchange.Result(
                token: issued.token, issuedTokenType: requested.rawValue, tokenType: .Bearer, expiresAt: issued.expiresAt,
                scope: issued.scope)
        }
    }

    /// Whether a token claims to be of another issuer than the tenant, so that a trusted issuer decides.
    private func isForeign(_ token: String, to tenantId: String?) throws -> Bool {
        guard let issuer = try trustedTokens.issuer(of: token) else { return false }
        guard let owner = context.realm.owner(ofIssuer: issuer) else { return true }
        // Without a tenant in the request, a token of any tenant of the store is its own.
        return owner.tenantId != nil && tenantId != nil && owner.tenantId != tenantId
    }

    /// Exchanges the token of a trusted issuer.
    private func exchangeForeign(
        _ request: TokenExchange.Params, _ wish: DelegationRule.Wish, _ call: any CallContext, now: Int64
    ) throws -> DelegatedTokens.Issued {
        let tenantId = request.tenantId ?? TenantRecord.defaultId
        let tenant = try context.database.read { try tenants.tenant(tenantId, in: $0) }
        let foreign = try trustedTokens.verify(request.subjectToken, call, now: now)
        try authenticate(request.clientId, request.clientSecret, of: tenant.id)
        let subject = ExchangedToken(
            issuer: foreign.issuer, subject: foreign.subject, expiresAt: foreign.expiresAt, claims: foreign.claims)
        let actor = try actor(request, ofTenant: tenant.id, call, now: now)
        if let chain = try? ActorChain(foreign.claims, issuer: foreign.issuer, hasSessions: false) {
            try requireTrustedActors(chain, issuedAt: now)
        }
        var wish = wish
        wish.actor = actor?.token
        return try delegatedTokens.exchange(
            subject, ofTenant: tenant.id, clientId: request.clientId, for: wish,
            .init(method: TokenExchange.info.name, call: call, now: now) { [other = actor?.foreign] tx in
                try foreign.use(in: tx)
                try other?.use(in: tx)
            })
    }

    /// Returns an assertion for another authorization server.
    private func assertion(_ request: TokenExchange.Params, _ call: any CallContext) throws -> TokenExchange.Result {
        let now = context.clock.now
        let type = ExchangeType(rawValue: request.subjectTokenType)
        guard let type, [.idToken, .jwt, .refreshToken].contains(type) else {
            throw TokenTypeNotSupported(requested: request.subjectTokenType)
        }
        if request.actorToken != nil { throw ExchangeNotAllowed(reason: "assertions for actors are not supported") }
        guard let clientId = request.clientId, let audience = request.audience?.first, request.audience?.count == 1 else {
            throw ExchangeNotAllowed(
                reason: "an assertion needs clientId, and exactly one audience: the issuer of the other authorization server")
        }
        let (proof, tenantId): (AssertionProof, String)
        if type == .refreshToken {
            (proof, tenantId) = (.refreshToken(request.subjectToken), try delegatedTokens.tenantId(ofRefreshToken: request.subjectToken))
            if let wanted = request.tenantId, wanted != tenantId { throw RefreshTokenInvalid() }
        } else {
            let token = try tenantTokens.verify(request.subjectToken, .init(tenantId: request.tenantId, use: .id), now: now)
            (proof, tenantId) = (.idToken(token), token.tenantId)
        }
        try authenticate(clientId, request.clientSecret, of: tenantId)
        let issued = try delegatedTokens.assertion(
            for: proof,
            .init(
                clientId: clientId, audience: audience, resources: request.resource ?? [], scope: request.scope,
                expiresInSeconds: request.expiresInSeconds),
            .init(method: TokenExchange.info.name, call: call, now: now))
        return TokenExchange.Result(
            token: issued.token, issuedTokenType: ExchangeType.idJag.rawValue, tokenType: .nA, expiresAt: issued.expiresAt,
            scope: issued.scope)
    }

    /// Returns a transaction token for the workloads of a trust domain.
    private func transaction(_ request: TokenExchange.Params, _ call: any CallContext) throws -> TokenExchange.Result {
        let now = context.clock.now
        try request.checkTransaction()
        if request.actorToken != nil { throw ExchangeNotAllowed(reason: "transaction tokens keep the actors of the subject token") }
        guard let clientId = request.clientId, let audience = request.audience?.first, request.audience?.count == 1,
            let scope = request.scope, request.resource == nil
        else {
            throw ExchangeNotAllowed(reason: "a transaction token needs clientId, scope and exactly one audience: the trust domain")
        }
        let type = try ExchangeType(request.subjectTokenType)
        let subject = try tenantToken(request.subjectToken, as: type, of: request.tenantId, now: now)
        try authenticate(clientId, request.clientSecret, of: subject.tenantId, mustBeConfidentialFor: "a transaction token")
        let issued = try delegatedTokens.transaction(
            for: subject,
            .init(
                clientId: clientId, audience: audience, scope: scope, expiresInSeconds: request.expiresInSeconds,
                .init(context: request.requestContext, details: request.requestDetails)),
            .init(method: TokenExchange.info.name, call: call, now: now))
        return TokenExchange.Result(
            token: issued.token, issuedTokenType: ExchangeType.transaction.rawValue, tokenType: .nA, expiresAt: issued.expiresAt,
            scope: issued.scope)
    }

    /// Returns an access token with which an actor may act for a user.
    ///
    /// - Throws: A `Token…` error that names the failed check, `AccountNotFound`, `TrustedIssuerNotFound`, `AudienceNotOffered`,
    ///   `ScopeNotGranted`, `ActorNotAllowed`.
    /// - Source: RFC 8693 section 4.4.
    public func delegate(_ request: TokenDelegate.Params, _ call: any CallContext) throws -> TokenDelegate.Result {
        try OAuthErrors.naming(.exchange) {
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

    var delegatedTokens: DelegatedTokens { DelegatedTokens(context: accounts, configurations: tenants) }
    var trustedTokens: TrustedTokens { TrustedTokens(context, pools) }

    /// Verifies a token of a tenant, whose type must be the declared one.
    private func tenantToken(
        _ token: String, as type: ExchangeType, of tenantId: String?, now: Int64
    ) throws -> VerifiedTenantToken {
        let use: TokenUse? =
            switch type {
            case .accessToken: .access
            case .idToken: .id
            case .jwt, .idJag, .transaction, .refreshToken: nil
            }
        let verified = try tenantTokens.verify(token, .init(tenantId: tenantId, use: use), now: now)
        if verified.use == .cookie { throw TokenUseMismatch(expected: .access, actual: .cookie) }
        try requireTrustedActors(of: verified)
        return verified
    }

    /// Verifies the token of the actor of a request, if it has one.
    private func actor(
        _ request: TokenExchange.Params, ofTenant tenantId: String, _ call: any CallContext, now: Int64
    ) throws -> (token: ExchangedToken, foreign: TrustedTokens.Token?)? {
        guard let token = request.actorToken, let type = try request.actorTokenType.map(ExchangeType.init(_:)) else { return nil }
        return try actorToken(token, as: type, ofTenant: tenantId, call, now: now)
    }

    /// Verifies the token of an actor: of the tenant, or of a trusted issuer.
    private func actorToken(
        _ token: String, as type: ExchangeType, ofTenant tenantId: String, _ call: any CallContext, now: Int64
    ) throws -> (ExchangedToken, TrustedTokens.Token?) {
        if try trustedTokens.issuer(of: token) == context.realm.issuer(of: .tenant(tenantId)) {
            let verified = try tenantToken(token, as: type, of: tenantId, now: now)
            // An API that receives an access token of the actor must not be able to act in its place.
            if verified.use == .access, !verified.audiences.contains(tenantId) {
                throw TokenAudienceMismatch(expected: tenantId, actual: verified.audiences)
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
        if let chain = token.actors { try requireTrustedActors(chain, issuedAt: token.issuedAt) }
    }

    private func requireTrustedActors(_ chain: ActorChain, issuedAt: Int64) throws {
        let foreign = chain.actors.filter { context.realm.owner(ofIssuer: $0.issuer)?.tenantId == nil }
        if foreign.isEmpty { return }
        try context.database.read { tx in
            for actor in foreign {
                try trustedTokens.requireTrust(in: actor.issuer, subject: actor.subject, issuedAt: issuedAt + 1, in: tx)
            }
        }
    }
}

extension TokenExchange.Params {
    /// The maximum length of `requestContext` and of `requestDetails`, in bytes: every request between workloads contains them.
    private static let maximumBytes = 4096

    /// - Throws: `InvalidParams` if the context or the details are too long.
    fileprivate func checkTransaction() throws {
        let violations = [("requestContext", requestContext), ("requestDetails", requestDetails)].compactMap { name, object -> Violation? in
            guard let object, JSONValue.object(object).bytes.count > Self.maximumBytes else { return nil }
            return Violation(
                pointer: "/\(name)", rule: "maxLength", message: "\(name) must have at most \(Self.maximumBytes) bytes as JSON.")
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }
}

/// The types of tokens that can be exchanged (RFC 8693 section 3).
private enum ExchangeType: String {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"
    /// An assertion, which can be requested and not exchanged.
    case idJag = "urn:ietf:params:oauth:token-type:id-jag"

    /// A transaction token, which can be requested and not exchanged.
    case transaction = "urn:ietf:params:oauth:token-type:txn_token"

    /// Only for assertions.
    case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"

    /// - Throws: `TokenTypeNotSupported`.
    init(_ type: String) throws {
        guard let known = Self(rawValue: type), ![.idJag, .transaction, .refreshToken].contains(known) else {
            throw TokenTypeNotSupported(requested: type)
        }
        self = known
    }
}
