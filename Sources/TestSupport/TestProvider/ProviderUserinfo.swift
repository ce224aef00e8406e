import Accounts
import Contract
import JSON
import Loopback
import ServiceContext
import SigningKeys

extension TestProvider {
    /// A verified token of this provider, with its session.
    struct ProvenToken: Sendable {
        let claims: JSONObject
        let isAccess: Bool
        /// The session, or `nil` for a token of a client that acts for itself.
        let standing: Standing?
    }

    /// The UserInfo endpoint (OpenID Connect Core §5.3).
    func userinfo(of issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        if let token = request.authorization("dpop") { return try userinfo(of: issuer, request, token, isProven: true) }
        let (header, form) = (request.authorization("bearer"), request.form["access_token"])
        if header != nil, form != nil {
            throw OAuthRefusal("invalid_request", "Send the access token once: in the header or in the form (RFC 6750 2).")
        }
        guard let token = header ?? form else {
            let refusal = OAuthRefusal("invalid_token", "Send the access token in an Authorization header: Bearer and the token.")
            return LoopbackResponse(
                json: ["error": .string(refusal.code), "error_description": .string(refusal.description ?? "")], status: 401,
                headers: [("www-authenticate", "Bearer realm=\"mintmark\"")])
        }
        return try userinfo(of: issuer, request, token, isProven: false)
    }

    /// - Parameter isProven: Whether the token was sent with the scheme `DPoP`, which requires a proof (RFC 9449 §7.1).
    private func userinfo(
        of issuer: ProviderIssuer, _ request: ProviderRequest, _ token: String, isProven: Bool
    ) throws -> LoopbackResponse {
        let proven: ProvenToken
        do { proven = try access(token, of: issuer) } catch let error as any ContractError {
            throw OAuthRefusal("invalid_token", error.message)
        }
        try checkBinding(of: proven.claims, token, at: issuer, request, isProven: isProven)
        guard let standing = proven.standing else {
            throw OAuthRefusal("insufficient_scope", "The access token belongs to a client, not to a user.")
        }
        let scopes = Scopes(proven.claims["scope"]?.string ?? "")
        guard scopes.names.contains("openid") else {
            throw OAuthRefusal("insufficient_scope", "The access token was not granted the scope openid.")
        }
        var answer: JSONObject = ["sub": .string(standing.account.id)]
        for (name, value) in Self.person(standing, scopes).members { answer[name] = value }
        for (name, value) in standing.account.claims.members where answer[name] == nil { answer[name] = value }
        let extra = memory.withLock { $0.extras[proven.claims["jti"]?.string ?? ""] }
        return LoopbackResponse(json: answer.changed(by: extra?.without(TenantTokenClaims.ofTheToken)))
    }

    /// Checks that the request proves the key to which an access token is bound.
    private func checkBinding(
        of claims: JSONObject, _ token: String, at issuer: ProviderIssuer, _ request: ProviderRequest, isProven: Bool
    ) throws {
        do {
            let thumbprint = isProven ? try proof(in: request, to: .userinfo, of: issuer, accessToken: token) : nil
            if isProven, thumbprint == nil { throw DPoPProof.refusal("The header DPoP is missing.") }
            guard claims.boundKey == thumbprint else {
                throw OAuthRefusal(
                    "invalid_token",
                    isProven
                        ? "The DPoP proof is not of the key to which the access token is bound."
                        : "The access token is bound to a key: send it with the scheme DPoP and a proof (RFC 9449).")
            }
        } catch var refusal as OAuthRefusal {
            let algorithms = DPoPProof.algorithms.map(\.rawValue).joined(separator: " ")
            refusal = OAuthRefusal(refusal.code, refusal.description, status: 401)
            let words = OAuthRefusal.quoted(refusal.description ?? "")
            refusal.headers = [
                ("www-authenticate", "DPoP error=\"\(refusal.code)\", error_description=\"\(words)\", algs=\"\(algorithms)\"")
            ]
            throw refusal
        }
    }

    /// - Throws: A `Token…` error if the access token is not valid; `OAuthRefusal`.
    func access(_ token: String, of issuer: ProviderIssuer) throws -> ProvenToken {
        try proven(token, [TokenType.access], of: issuer) { $0 == issuer.url }
    }

    /// Verifies a token of the tenant for any audience.
    ///
    /// - Parameter isIssuer: Returns whether an issuer is accepted in addition to the tenant.
    func proven(
        _ token: String, _ types: Set<String>, of issuer: ProviderIssuer, _ isIssuer: (String) -> Bool
    ) throws -> ProvenToken {
        let (jws, key) = try signature(of: token, at: issuer)
        let claims = (try? JSONValue(parsing: jws.payload))?.object ?? [:]
        guard key.owner == .tenant(issuer.tenant.id) else { throw OAuthRefusal("invalid_token", "It is not a token of \(issuer.url).") }
        let isAccess = jws.header.hasType(TokenType.access)
        guard types.contains(where: { jws.header.hasType($0) }) else {
            let kinds = isAccess ? "an access token, not an ID token" : "an ID token, not an access token"
            throw OAuthRefusal("invalid_token", "This token of \(issuer.url) is \(kinds).")
        }
        let (now, id, named) = (context.clock.now, claims["jti"]?.string ?? "", claims["iss"]?.string ?? "")
        let (hasOwnIssuer, isRevoked) = memory.withLock { ($0.extras[id]?["iss"] != nil, $0.revoked[id] != nil) }
        guard isIssuer(named) || hasOwnIssuer || named == context.realm.issuer(of: .tenant(issuer.tenant.id)) else {
            throw TokenIssuerMismatch(expected: issuer.url, actual: named)
        }
        guard let expiresAt = claims["exp"]?.int, expiresAt > now else { throw TokenExpired(expiredAt: claims["exp"]?.int ?? 0, now: now) }
        if isRevoked { throw TokenRevoked(reason: "it was revoked") }
        guard let sessionId = claims["sid"]?.string else { return ProvenToken(claims: claims, isAccess: isAccess, standing: nil) }
        guard let standing = try sessionId == SessionRecord.ofTestTokens ? made(claims, at: now) : standing(of: sessionId, at: now) else {
            throw TokenRevoked(reason: "its session was ended")
        }
        return ProvenToken(claims: claims, isAccess: isAccess, standing: standing)
    }

    /// Returns the account of a token that `test.token` has created.
    private func made(_ claims: JSONObject, at now: Int64) throws -> Standing? {
        let subject = claims["sub"]?.string ?? ""
        guard !subject.utf8.contains(0), let account = try context.database.read({ try $0.account(subject) }), !account.isDisabled
        else { return nil }
        let proof = SignInProof.password
        return Standing(
            account: account,
            session: SessionRecord(
                id: SessionRecord.ofTestTokens, accountId: account.id, amr: proof.amr, provider: proof.provider, claims: [:],
                secondFactor: nil,
                authenticatedAt: now, createdAt: now, lastUsedAt: now, expiresAt: now + 1))
    }
}

extension TenantTokenClaims {
    /// The claims that describe the token, not the user.
    static let ofTheToken: Set<String> = [
        "iss", "aud", "exp", "iat", "nbf", "jti", "nonce", "at_hash", "azp", "sid", "auth_time", "client_id", "scope", "amr", "acr", "act", "cnf",
    ]
}

extension JSONObject {
    /// Returns this object without the given members.
    func without(_ names: Set<String>) -> JSONObject {
        var object = self
        for name in names { object[name] = nil }
        return object
    }
}
