import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys
import Storage

/// A completely verified pool token.
package struct VerifiedPoolToken: Sendable {
    let poolId: String
    let identityId: String
    let amr: [String]
    let tags: [(key: String, value: String)]
    let issuedAt: Int64
    package let expiresAt: Int64
    package let issuer: String
    package let claims: JSONNode
    package let header: JSONNode
}

/// Verifies pool tokens of this store according to RFC 8725. No leeway applies, because the same clock issued them.
package struct PoolTokenVerifier: Sendable {
    package let context: ServiceContext
    package let configurations: PoolConfigurationCache

    package init(context: ServiceContext, configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// Additional expectations of the caller.
    package struct Expectation: Sendable {
        package var audience: String?
        package var issuer: String?
        /// Whether the pool and the identity must still exist, without a revocation since the token was issued.
        package var checksRevocation = true

        package init(audience: String? = nil, issuer: String? = nil, checksRevocation: Bool = true) {
            self.audience = audience
            self.issuer = issuer
            self.checksRevocation = checksRevocation
        }
    }

    /// Verifies `token`. Signature, type, issuer and lifetime are always checked.
    ///
    /// - Throws: A `Token…` error that names the failed check.
    func verify(_ token: String, _ expected: Expectation, now: Int64) throws -> VerifiedPoolToken {
        let (jws, key) = try signatures.verify(token)
        try requirePool(key, jws)
        return try verify(jws, signedBy: key, expected, now: now)
    }

    /// Verifies `token` within a transaction that reads more, with all revocations.
    ///
    /// - Throws: The errors of `verify(_:_:now:)`.
    func verify(_ token: String, now: Int64, in tx: Transaction) throws -> VerifiedPoolToken {
        try verify(signatures.verify(token, in: tx), now: now, in: tx)
    }

    /// Verifies a parsed token within a transaction that reads more.
    ///
    /// - Throws: The errors of `verify(_:_:now:)`.
    func verify(_ parsed: JWS, now: Int64, in tx: Transaction) throws -> VerifiedPoolToken {
        try verify(signatures.verify(parsed, in: tx), now: now, in: tx)
    }

    private func verify(_ signed: (jws: JWS, key: StoredKey), now: Int64, in tx: Transaction) throws -> VerifiedPoolToken {
        let (jws, key) = signed
        try requirePool(key, jws)
        let verified = try claims(of: jws, signedBy: key)
        try check(verified, .init(), now: now)
        try checkStanding(of: verified, in: tx)
        return verified
    }

    private var signatures: TokenSignature { TokenSignature(context: context, signingKeys: configurations.signingKeys) }

    private func requirePool(_ key: StoredKey, _ jws: JWS) throws {
        guard key.owner.poolId != nil else {
            throw TokenUseMismatch(expected: .pool, actual: jws.header.hasType(TokenType.access) ? .access : .id)
        }
    }

    /// Verifies a token whose signature was already verified with a pool's key.
    package func verify(_ jws: JWS, signedBy key: StoredKey, _ expected: Expectation, now: Int64) throws -> VerifiedPoolToken {
        let verified = try claims(of: jws, signedBy: key)
        try check(verified, expected, now: now)
        if expected.checksRevocation { try context.database.read { try checkStanding(of: verified, in: $0) } }
        return verified
    }

    /// Reads the claims. The token was signed by a key of this store, so a missing claim is an internal error or a token of another kind.
    private func claims(of jws: JWS, signedBy key: StoredKey) throws -> VerifiedPoolToken {
        guard jws.header.hasType(TokenType.pool) else { throw TokenMalformed(reason: "its type is not \(TokenType.pool)") }
        guard let claims = try? JSONText(jws.payload).root, claims.kind == .object else {
            throw TokenMalformed(reason: "its claims are not a JSON object")
        }
        var issuer: String?
        var audience: String?
        var subject: String?
        var issuedAt: Int64?
        var expiresAt: Int64?
        var amr: [String] = []
        var tags: [(key: String, value: String)] = []
        claims.forEachPair { name, value in
            if name.isString("iss") {
                issuer = value.string
            } else if name.isString("aud") {
                audience = value.string
            } else if name.isString("sub") {
                subject = value.string
            } else if name.isString("iat") {
                issuedAt = value.number?.int64
            } else if name.isString("exp") {
                expiresAt = value.number?.int64
            } else if name.isString("amr") {
                value.forEachElement { if let method = $1.string { amr.append(method) } }
            } else if name.isString(PoolTokenClaims.tagsClaim) {
                value["principal_tags"]?.forEachMember { name, values in
                    values.forEachElement { if let value = $1.string { tags.append((name, value)) } }
                }
            }
        }
        guard let issuer, let audience, let subject, let issuedAt, let expiresAt else {
            throw TokenMalformed(reason: "one of iss, aud, sub, iat and exp is missing")
        }
        let expectedIssuer = context.realm.issuer(of: key.owner)
        guard issuer == expectedIssuer else { throw TokenIssuerMismatch(expected: expectedIssuer, actual: issuer) }
        return VerifiedPoolToken(
            poolId: audience, identityId: subject, amr: amr, tags: tags, issuedAt: issuedAt, expiresAt: expiresAt, issuer: issuer,
            claims: claims, header: jws.header.json)
    }

    private func check(_ token: VerifiedPoolToken, _ expected: Expectation, now: Int64) throws {
        if let issuer = expected.issuer, issuer != token.issuer { throw TokenIssuerMismatch(expected: issuer, actual: token.issuer) }
        if let audience = expected.audience, audience != token.poolId {
            throw TokenAudienceMismatch(expected: audience, actual: [token.poolId])
        }
        if token.issuedAt > now { throw TokenNotYetValid(validFrom: token.issuedAt, now: now) }
        if token.expiresAt <= now { throw TokenExpired(expiredAt: token.expiresAt, now: now) }
    }

    /// Checks that the pool and the identity exist, that the identity is enabled, and that neither was revoked since the token was issued.
    private func checkStanding(of token: VerifiedPoolToken, in tx: Transaction) throws {
        guard try configurations.knownPool(token.poolId, in: tx) != nil else { throw TokenRevoked(reason: "its pool was deleted") }
        guard let identity = try tx.identity(token.identityId) else { throw TokenRevoked(reason: "its identity was deleted") }
        if identity.state == .disabled { throw TokenRevoked(reason: "its identity is disabled") }
        let targets: [Revocations.Target] = [
            .init(kind: .identityId, subject: token.identityId), .init(kind: .poolId, subject: token.poolId),
        ]
        // Tokens have a resolution of one second. A token issued in the same second as a revocation may be newer, so it stays valid.
        if try configurations.revocations(in: tx).hit(targets, issuedAt: token.issuedAt + 1) != nil {
            throw TokenRevoked(reason: "credentials.revoke applies to its identity or pool")
        }
    }
}
