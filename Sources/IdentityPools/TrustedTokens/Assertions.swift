import Contract
import Crypto
import Federation
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Verifies assertions of trusted issuers (draft-ietf-oauth-identity-assertion-authz-grant, RFC 7523 section 3).
extension TrustedTokens {
    private static let assertionUse = "idJag"
    /// The maximum lifetime of an assertion, in seconds.
    private static let maximumAssertionSeconds: Int64 = 600
    /// The accepted difference of clocks for an assertion, in seconds.
    static let assertionLeewaySeconds: Int64 = 60

    /// A verified assertion.
    package struct Assertion: Sendable {
        package let issuer: String
        package let subject: String
        package let expiresAt: Int64
        package let claims: JSONNode
        /// The resources that it names; empty if it names none.
        package let resources: [String]
        package let scope: String?
        fileprivate let mark: UsedWorkloadToken

        /// Stores that the assertion was redeemed.
        ///
        /// - Throws: `TokenReplayed`.
        package func use(in tx: Transaction) throws { try mark.use(in: tx) }
    }

    /// - Parameters:
    ///   - audience: The issuer of the tenant.
    ///   - clientId: The application that was authenticated.
    /// - Throws: A `Token…` error that names the failed check, `ProviderUnavailable`, `ProviderUnusable`.
    package func assertion(
        _ token: String, audience: String, clientId: String, _ call: any CallContext, now: Int64
    ) throws -> Assertion {
        let presented = try PresentedToken(token)
        if let jws = presented.jws, jws.header.type != TokenType.assertion {
            throw TokenUseMismatch(expected: .other, actual: jws.header.type.map(TokenTypes.kind) ?? .other)
        }
        let issuer = try context.database.read { tx in try presented.issuer.flatMap { try configurations.trustedIssuer($0, in: tx) } }
        guard let issuer, issuer.uses.contains(Self.assertionUse) else {
            throw TokenIssuerMismatch(expected: "a trusted issuer with the use idJag", actual: presented.issuer ?? "(none)")
        }
        guard let jws = presented.jws else { throw TokenAlgorithmNotAllowed(algorithm: presented.refusedAlgorithm ?? "") }
        try checkSignature(jws, token, of: issuer, call)
        let assertion = try check(presented.claims, of: issuer, audience: audience, clientId: clientId, now: now)
        try context.database.read { tx in
            let issuedAt = presented.claims["iat"].flatMap { NumericDate.seconds($0) } ?? 0
            // A token of the same second can be newer than the revocation.
            try requireTrust(in: issuer.issuer, subject: assertion.subject, issuedAt: issuedAt + 1, for: Self.assertionUse, in: tx)
        }
        return assertion
    }

    private func checkSignature(_ jws: JWS, _ token: String, of issuer: KnownIssuer, _ call: any CallContext) throws {
        if let tenantId = issuer.tenantId {
            let key = try TokenSignature(context: context, signingKeys: configurations.signingKeys).verify(token).key
            guard key.owner == .tenant(tenantId) else {
                throw TokenKeyUnknown(kid: key.kid, reason: "it is not a key of the tenant \(tenantId)")
            }
            return
        }
        let key: PublicKey?
        if let keys = issuer.keys {
            key = keys.key(for: jws.header)
        } else {
            key = try context.foreign.key(for: jws.header, issuer: issuer.issuer, of: issuer.address, call)
        }
        try WorkloadTokenRules.checkSignature(jws, key, issuer)
    }

    private func check(
        _ claims: JSONNode, of issuer: KnownIssuer, audience: String, clientId: String, now: Int64
    ) throws -> Assertion {
        let expiresAt = try times(claims, issuer, now: now)
        let (subject, id) = (try Self.text("sub", claims), try Self.text("jti", claims))
        guard claims["aud"]?.string?.hasBytes(of: audience) == true else {
            throw TokenAudienceMismatch(expected: audience, actual: claims["aud"]?.string.map { [$0] } ?? [])
        }
        guard try Self.text("client_id", claims).hasBytes(of: clientId) else {
            throw TokenClaimRejected(claim: "client_id", reason: "it is not the authenticated application")
        }
        try WorkloadTokenRules.checkLimits(claims, issuer)
        // Without these claims, the access token would have more access than the assertion permits.
        for name in ["act", "may_act", "authorization_details"] where claims[name] != nil {
            throw TokenClaimRejected(claim: name, reason: "assertions with this claim are not supported")
        }
        if claims["tenant"] != nil, !issuer.claimLimits.contains(where: { $0.claim == "tenant" }) {
            throw TokenClaimRejected(
                claim: "tenant", reason: "sub identifies a user only within it; limit it by claims of the trusted issuer")
        }
        if let scope = claims["scope"], scope.string == nil { throw TokenClaimRejected(claim: "scope", reason: "it is not a string") }
        return Assertion(
            issuer: issuer.issuer, subject: subject, expiresAt: expiresAt, claims: claims, resources: try Self.resources(claims),
            scope: claims["scope"]?.string,
            mark: UsedWorkloadToken(issuer: issuer.issuer, tokenId: id, expiresAt: expiresAt + 2 * Self.assertionLeewaySeconds))
    }

    private func times(_ claims: JSONNode, _ issuer: KnownIssuer, now: Int64) throws -> Int64 {
        func moment(_ name: StaticString) throws -> Int64 {
            guard let claim = claims[name] else { throw TokenMalformed(reason: "it has no \(name)") }
            guard let seconds = NumericDate.seconds(claim), (-limit...limit).contains(seconds) else {
                throw TokenMalformed(reason: "its \(name) is not a number of seconds since 1970")
            }
            return seconds
        }
        let limit: Int64 = 1 << 50
        let (expiresAt, issuedAt) = (try moment("exp"), try moment("iat"))
        let leeway = Self.assertionLeewaySeconds
        guard now < expiresAt + leeway else { throw TokenExpired(expiredAt: expiresAt, now: now) }
        let validFrom = max(issuedAt, claims["nbf"] == nil ? issuedAt : try moment("nbf"))
        if validFrom > now + leeway { throw TokenNotYetValid(validFrom: validFrom, now: now) }
        let maximum = min(Self.maximumAssertionSeconds, issuer.maxLifetimeSeconds)
        if expiresAt - issuedAt > maximum {
            throw TokenClaimRejected(claim: "exp", reason: "the assertion is valid for longer than \(maximum) s")
        }
        if let age = issuer.maxAgeSeconds, now - issuedAt > age {
            throw TokenClaimRejected(claim: "iat", reason: "the assertion is older than \(age) s")
        }
        return expiresAt
    }

    private static func text(_ name: StaticString, _ claims: JSONNode) throws -> String {
        guard let text = claims[name]?.string, !text.isEmpty, text.unicodeScalars.count <= 255,
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw TokenMalformed(reason: "its \(name) is not a string of 1 to 255 characters without control characters") }
        return text
    }

    private static func resources(_ claims: JSONNode) throws -> [String] {
        guard let claim = claims["resource"] else { return [] }
        if let one = claim.string { return [one] }
        var (all, areStrings) = ([String](), claim.kind == .array)
        claim.forEachElement { if let one = $1.string { all.append(one) } else { areStrings = false } }
        guard areStrings, !all.isEmpty else {
            throw TokenClaimRejected(claim: "resource", reason: "it is neither a string nor a list of strings")
        }
        return all
    }
}
