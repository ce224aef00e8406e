import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys
import Storage

/// A completely verified token of a tenant.
package struct VerifiedTenantToken: Sendable {
    package let use: TokenUse
    package let tenantId: String
    package let accountId: String
    let sessionId: String
    /// The first audience. Only an exchanged token can have several.
    let audience: String
    package let audiences: [String]
    package let issuer: String
    let authenticatedAt: Int64
    package let issuedAt: Int64
    package let expiresAt: Int64
    package let claims: JSONNode
    package let header: JSONNode
}

/// Verifies tokens of this store's tenants (RFC 8725, RFC 9068 §4).
package struct TenantTokenVerifier: Sendable {
    let context: ServiceContext
    let configurations: TenantConfigurationCache

    package init(context: ServiceContext, configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    init(context: AccountsContext, configurations: TenantConfigurationCache) {
        self.init(context: context.service, configurations: configurations)
    }

    /// Additional expectations of the caller.
    package struct Expectation: Sendable {
        package var audience: String?
        package var issuer: String?
        package var tenantId: String?
        package var use: TokenUse?
        /// Whether the account and the session must still be valid.
        package var checksStanding = true
        var checksExpiry = true

        package init(
            audience: String? = nil, issuer: String? = nil, tenantId: String? = nil, use: TokenUse? = nil, checksStanding: Bool = true,
            checksExpiry: Bool = true
        ) {
            self.audience = audience
            self.issuer = issuer
            self.tenantId = tenantId
            self.use = use
            self.checksStanding = checksStanding
            self.checksExpiry = checksExpiry
        }
    }

    /// - Throws: A `Token…` error that names the failed check.
    package func verify(_ token: String, _ expected: Expectation, now: Int64) throws -> VerifiedTenantToken {
        let (jws, key) = try TokenSignature(context: context, signingKeys: configurations.signingKeys).verify(token)
        guard let tenantId = key.owner.tenantId else { throw TokenUseMismatch(expected: (expected.use ?? .id).kind, actual: .pool) }
        return try check(try claims(of: jws, tenantId: tenantId), expected, now: now)
    }

    /// Verifies a token whose signature was already verified with a tenant's key.
    package func verify(_ jws: JWS, of tenantId: String, _ expected: Expectation, now: Int64) throws -> VerifiedTenantToken {
        try check(try claims(of: jws, tenantId: tenantId), expected, now: now)
    }

    private func claims(of jws: JWS, tenantId: String) throws -> VerifiedTenantToken {
        let use: TokenUse
        if jws.header.hasType(TokenType.id) {
            use = .id
        } else if jws.header.hasType(TokenType.access) {
            use = .access
        } else if jws.header.hasType(TokenType.cookie) {
            use = .cookie
        } else {
            throw TokenMalformed(reason: "its type is none of \(TokenType.id), \(TokenType.access) and \(TokenType.cookie)")
        }
        guard let claims = try? JSONText(jws.payload).root, claims.kind == .object else {
            throw TokenMalformed(reason: "its claims are not a JSON object")
        }
        guard let issuer = claims["iss"]?.string, let audiences = Self.audiences(of: claims), let audience = audiences.first,
            let subject = claims["sub"]?.string,
            let session = claims["sid"]?.string, let authenticatedAt = claims["auth_time"]?.number?.int64,
            let issuedAt = claims["iat"]?.number?.int64, let expiresAt = claims["exp"]?.number?.int64
        else { throw TokenMalformed(reason: Self.flaw(of: claims)) }
        return VerifiedTenantToken(
            use: use, tenantId: tenantId, accountId: subject, sessionId: session, audience: audience, audiences: audiences, issuer: issuer,
            authenticatedAt: authenticatedAt, issuedAt: issuedAt, expiresAt: expiresAt, claims: claims, header: jws.header.json)
    }

    /// Returns the audiences of a token: one, or those of an exchanged token.
    private static func audiences(of claims: JSONNode) -> [String]? {
        guard let claim = claims["aud"] else { return nil }
        if let audience = claim.string { return [audience] }
        guard claim.kind == .array, claims["jti"] != nil else { return nil }
        var audiences: [String] = []
        var areStrings = true
        claim.forEachElement { if let audience = $1.string { audiences.append(audience) } else { areStrings = false } }
        return areStrings && !audiences.isEmpty ? audiences : nil
    }

    /// Returns the reason the required claims are not valid: missing, or of the wrong type.
    private static func flaw(of claims: JSONNode) -> String {
        let texts: [StaticString] = ["iss", "aud", "sub", "sid"]
        let moments: [StaticString] = ["auth_time", "iat", "exp"]
        let missing = (texts + moments).filter { claims[$0] == nil }
        if !missing.isEmpty { return "it has no \(missing.map { "\($0)" }.joined(separator: " and no "))" }
        if let wrong = texts.first(where: { claims[$0]?.string == nil }) { return "its \(wrong) is not a string" }
        let wrong = moments.first { claims[$0]?.number?.int64 == nil }
        return "its \(wrong ?? "exp") is not a whole number of seconds since 1970"
    }

    private func check(_ token: VerifiedTenantToken, _ expected: Expectation, now: Int64) throws -> VerifiedTenantToken {
        let issuers = [
            context.realm.issuer(of: .tenant(token.tenantId)), expected.issuer,
            expected.tenantId.map { context.realm.issuer(of: .tenant($0)) },
        ].compactMap { $0 }
        for issuer in issuers where issuer != token.issuer { throw TokenIssuerMismatch(expected: issuer, actual: token.issuer) }
        if let audience = expected.audience, !token.audiences.contains(audience) {
            throw TokenAudienceMismatch(expected: audience, actual: token.audiences)
        }
        if let use = expected.use, use != token.use { throw TokenUseMismatch(expected: use.kind, actual: token.use.kind) }
        let validFrom = max(token.issuedAt, token.claims["nbf"]?.number?.int64 ?? token.issuedAt)
        if validFrom > now { throw TokenNotYetValid(validFrom: validFrom, now: now) }
        if expected.checksExpiry, token.expiresAt <= now { throw TokenExpired(expiredAt: token.expiresAt, now: now) }
        if expected.checksStanding { try checkStanding(of: token, at: now) }
        return token
    }

    private func checkStanding(of token: VerifiedTenantToken, at now: Int64) throws {
        try context.database.read { tx in
            let account = try tx.account(token.accountId)
            let tenant = try configurations.knownTenant(token.tenantId, in: tx)
            try tenant?.requireEnabled()
            if let chain = token.actors { try checkStanding(of: chain, at: now, in: tx) }
            if account?.isDisabled == true { throw TokenRevoked(reason: "its account is disabled") }
            if let account { try tx.requireOwner(ofAgent: account) }
            if context.isTesting, token.sessionId == SessionRecord.ofTestTokens { return }
            if account == nil { throw try tx.loss(ofAccount: token.accountId) }
            guard let session = try tx.session(token.sessionId) else { throw try tx.loss(ofSession: token.sessionId) }
            if let end = tenant?.tokens.end(ofSessionFrom: session.authenticatedAt), end <= now {
                throw TokenRevoked(reason: "its session ended at \(end), the maximum after the sign-in")
            }
        }
    }
}

extension VerifiedTenantToken {
    /// The actors of the token; `nil` if it has none or the claim is not valid, which only a token of `test.token` can have.
    package var actors: ActorChain? { claims["act"] == nil ? nil : try? ActorChain(claims, issuer: issuer) }
}

extension TenantTokenVerifier {
    /// Checks that the actors of this store can still act: a token ends with each of their sessions.
    ///
    /// - Throws: `TokenRevoked`.
    func checkStanding(of chain: ActorChain, at now: Int64, in tx: Transaction) throws {
        for actor in chain.actors {
            guard let tenantId = context.realm.owner(ofIssuer: actor.issuer)?.tenantId else { continue }
            let account = try tx.account(actor.subject)
            if account?.isDisabled == true { throw TokenRevoked(reason: "the account of its actor is disabled") }
            if let account { try tx.requireOwner(ofAgent: account) }
            if context.isTesting, actor.sessionId == SessionRecord.ofTestTokens { continue }
            guard let account, account.tenantId == tenantId else { throw TokenRevoked(reason: "the account of its actor does not exist") }
            guard let id = actor.sessionId else { continue }
            let tenant = try configurations.knownTenant(tenantId, in: tx)
            guard let session = try tx.session(id), session.accountId == account.id, tenant?.settings.disabled == false else {
                throw TokenRevoked(reason: "the session of its actor has ended")
            }
            if let end = tenant?.tokens.end(ofSessionFrom: session.authenticatedAt), end <= now {
                throw TokenRevoked(reason: "the session of its actor ended at \(end)")
            }
        }
    }
}
