import Contract
import Crypto
import Federation
import JSON
import Platform
import SigningKeys

/// A completely verified token of a trusted issuer.
struct WorkloadToken: Sendable {
    let issuer: KnownIssuer
    let subject: String
    /// The value of `<name>:aud`; of several the first that is accepted.
    let audience: String
    let tokenId: String?
    let issuedAt: Int64?
    let expiresAt: Int64
    let claims: JSONNode
}

/// The checks of a token of a trusted issuer, in their order (Sources/IdentityPools/README.md, "Tokens of trusted issuers"). The
/// functions are pure: the caller finds issuer and key.
enum WorkloadTokenRules {
    /// The time after `exp` for which a token is still accepted, and the accepted difference of clocks, in seconds. IAM grants the same.
    static let leewaySeconds = ExternalTokenRules.leewaySeconds

    // MARK: Type

    /// - Parameter types: The accepted types, in lowercase.
    static func checkType(_ header: JWSHeader, _ types: Set<String>) throws {
        guard let type = header.type else { return }
        let canonical = TokenTypes.canonical(type)
        guard types.contains(canonical), !TokenTypes.foreign.contains(canonical) else {
            throw TokenUseMismatch(expected: .workload, actual: TokenTypes.kind(type))
        }
    }

    // MARK: Signature

    static func checkSignature(_ jws: JWS, _ key: PublicKey?, _ issuer: KnownIssuer) throws {
        let algorithm = jws.header.algorithm.rawValue
        if let accepted = issuer.algorithms, !accepted.contains(algorithm) { throw TokenAlgorithmNotAllowed(algorithm: algorithm) }
        guard let key else {
            let reason =
                jws.header.keyID == nil
                ? "its header contains no kid, and not exactly one key of its issuer fits" : "its issuer has no key with this kid"
            throw TokenKeyUnknown(kid: jws.header.keyID, reason: reason)
        }
        do { _ = try jws.verify(with: key) } catch { throw TokenSignature.answer(error, kid: jws.header.keyID) }
    }

    // MARK: Claims

    /// Checks the claims of a token whose signature is valid.
    static func check(_ claims: JSONNode, _ issuer: KnownIssuer, now: Int64) throws -> WorkloadToken {
        let (issuedAt, expiresAt) = try times(claims, issuer, now: now)
        guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.unicodeScalars.count <= 255,
            !subject.unicodeScalars.contains(where: { $0.value < 0x20 || 0x7F...0x9F ~= $0.value })
        else { throw TokenMalformed(reason: "its sub is not a string of 1 to 255 characters without control characters") }
        let audience = try audience(claims, issuer)
        try checkLimits(claims, issuer)
        return WorkloadToken(
            issuer: issuer, subject: subject, audience: audience, tokenId: claims["jti"]?.string, issuedAt: issuedAt,
            expiresAt: expiresAt, claims: claims)
    }

    private static func times(_ claims: JSONNode, _ issuer: KnownIssuer, now: Int64) throws -> (issuedAt: Int64?, expiresAt: Int64) {
        guard let exp = claims["exp"] else { throw TokenMalformed(reason: "it has no exp") }
        guard let expiresAt = NumericDate.seconds(exp) else { throw notNumber("exp") }
        // The difference cannot overflow: a value beyond these limits is not accepted as a time.
        guard (-limit...limit).contains(expiresAt) else { throw notNumber("exp") }
        guard now < expiresAt + leewaySeconds else { throw TokenExpired(expiredAt: expiresAt, now: now) }
        var issuedAt: Int64?
        for name: StaticString in ["iat", "nbf"] {
            guard let claim = claims[name] else { continue }
            guard let moment = NumericDate.seconds(claim), (-limit...limit).contains(moment) else { throw notNumber("\(name)") }
            if moment > now + leewaySeconds { throw TokenNotYetValid(validFrom: moment, now: now) }
            if "\(name)" == "iat" { issuedAt = moment }
        }
        if expiresAt - (issuedAt ?? now) > issuer.maxLifetimeSeconds {
            throw TokenClaimRejected(claim: "exp", reason: "the token is valid for longer than \(issuer.maxLifetimeSeconds) s")
        }
        if let maximum = issuer.maxAgeSeconds {
            guard let issuedAt else { throw TokenClaimRejected(claim: "iat", reason: "it is missing, and the issuer limits the age") }
            if now - issuedAt > maximum {
                throw TokenClaimRejected(claim: "iat", reason: "the token is older than \(maximum) s")
            }
        }
        return (issuedAt, expiresAt)
    }

    private static let limit: Int64 = 1 << 50

    private static func notNumber(_ name: String) -> TokenMalformed {
        TokenMalformed(reason: "its \(name) is not a number of seconds since 1970")
    }

    /// `azp` never replaces `aud` (OpenID Connect Core 1.0 section 3.1.3.7, steps 3 to 5).
    static func audience(_ claims: JSONNode, _ issuer: KnownIssuer) throws -> String {
        let given = claims["aud"]
        var values: [String] = []
        var areStrings = true
        if let one = given?.string {
            values = [one]
        } else if let given, given.kind == .array {
            given.forEachElement { if let value = $1.string { values.append(value) } else { areStrings = false } }
        }
        func mismatch(_ actual: [String]) -> TokenAudienceMismatch {
            TokenAudienceMismatch(expected: "one of the audiences of \(issuer.issuer)", actual: actual)
        }
        let accepted = values.filter { value in issuer.audiences.contains { $0.hasBytes(of: value) } }
        guard areStrings, let first = accepted.first, !first.isEmpty else { throw mismatch(values) }
        guard let azp = claims["azp"] else {
            // Another recipient of the token could otherwise use it here.
            guard accepted.count == values.count else { throw mismatch(values) }
            return first
        }
        guard let party = azp.string, !party.isEmpty, issuer.accepts(party: party) else { throw mismatch([azp.string ?? "azp"]) }
        return party
    }

    static func checkLimits(_ claims: JSONNode, _ issuer: KnownIssuer) throws {
        for (claim, patterns) in issuer.claimLimits {
            let texts = claims[claim].map { WorkloadClaims.texts($0) ?? [] } ?? []
            let matches = texts.contains { text in patterns.contains { $0.matches(text, in: PolicyContext()) } }
            if !matches { throw TokenClaimRejected(claim: claim, reason: "the trusted issuer requires another value") }
        }
        if let jti = claims["jti"], jti.string == nil { throw TokenClaimRejected(claim: "jti", reason: "it is not a string") }
        if issuer.isSingleUse, (claims["jti"]?.string ?? "").isEmpty {
            throw TokenClaimRejected(claim: "jti", reason: "it is missing, and the issuer allows each token once")
        }
        if claims["cnf"] != nil { throw TokenClaimRejected(claim: "cnf", reason: "the possession of its key cannot be proven here") }
        if claims["events"] != nil {
            throw TokenClaimRejected(claim: "events", reason: "the token is a logout token or a security event token")
        }
        if let name = WorkloadClaims.ambiguousName(claims) {
            throw TokenClaimRejected(claim: name, reason: "another claim differs from it only in case")
        }
    }
}

extension WorkloadClaims {
    init(_ token: WorkloadToken) { self.init(issuerName: token.issuer.name, token.claims) }
}
