import Accounts
import Contract
import Crypto
import JSON
import Platform
import SigningKeys

extension TestProvider {
    /// A session and the grant for which a client gets its tokens.
    struct GrantedSession {
        let standing: Standing
        let grant: ProviderState.Grant
        /// The nonce of the authorization request, for the ID token.
        var nonce: String?
        /// The refresh token, if the client gets one.
        var refreshToken: String?
    }

    /// The content of an access token before it is signed.
    struct AccessTokenDraft {
        var claims: JSONObject
        let audience: String
        let clientId: String
        let scopes: Scopes
        let expiresAt: Int64
    }

    /// Returns the response of the token endpoint for a user (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3), including the enqueued claims.
    func answer(
        _ granted: GrantedSession, of issuer: ProviderIssuer, _ key: StoredKey, at now: Int64
    ) throws -> JSONObject {
        let (standing, grant) = (granted.standing, granted.grant)
        let extra = memory.withLock { $0.nextClaims(of: issuer.name) }
        let (tokens, session) = (issuer.tenant.tokens, standing.session)
        var common: JSONObject = [
            "iss": .string(issuer.url), "sub": .string(standing.account.id), "sid": .string(session.id),
            "auth_time": .number(JSONNumber(session.authenticatedAt)), "iat": .number(JSONNumber(now)),
        ]
        if !session.amr.isEmpty { common["amr"] = .array(session.amr.map { .string($0) }) }
        for (name, value) in Self.custom(standing) { common[name] = value }
        let access = try accessToken(
            AccessTokenDraft(
                claims: common.bound(to: grant.thumbprint), audience: grant.audience ?? grant.clientId, clientId: grant.clientId,
                scopes: grant.scopes, expiresAt: now + tokens.accessTokenSeconds), extra: extra, key: key)
        var answer: JSONObject = [
            "access_token": .string(access), "token_type": grant.thumbprint == nil ? "Bearer" : "DPoP",
            "expires_in": .number(JSONNumber(tokens.accessTokenSeconds)),
        ]
        answer["scope"] = grant.scopes.shown
        if grant.scopes.names.contains("openid") {
            var claims = common
            claims["aud"] = .string(grant.clientId)
            claims["exp"] = .number(JSONNumber(now + tokens.idTokenSeconds))
            claims["nonce"] = granted.nonce.map { .string($0) }
            claims["at_hash"] = .string(Self.halfHash(access, key.algorithm))
            for (name, value) in Self.person(standing, grant.scopes).members { claims[name] = value }
            answer["id_token"] = .string(try key.signer.sign(JSONValue.object(claims.changed(by: extra)).bytes))
        }
        answer["refresh_token"] = granted.refreshToken.map { .string($0) }
        return answer
    }

    /// Signs an access token (RFC 9068 §2.2), and stores the claims that were enqueued for it.
    ///
    /// - Parameter extra: The claims that were enqueued.
    func accessToken(_ draft: AccessTokenDraft, extra: JSONObject?, key: StoredKey) throws -> String {
        let id = context.random.uuid()
        var claims = draft.claims
        claims["aud"] = .string(draft.audience)
        claims["exp"] = .number(JSONNumber(draft.expiresAt))
        claims["client_id"] = .string(draft.clientId)
        claims["scope"] = draft.scopes.shown
        claims["jti"] = .string(id)
        claims = claims.changed(by: extra)
        if let extra { memory.withLock { $0.extras[claims["jti"]?.string ?? id] = extra } }
        return try key.accessSigner.sign(JSONValue.object(claims).bytes)
    }

    /// Returns the custom claims of the account and of the session. Those of the session take precedence.
    static func custom(_ standing: Standing) -> [(String, JSONValue)] {
        let (own, all) = (standing.session.claims, standing.account.claims.members)
        return (own.members + all.filter { own[$0.name] == nil }).filter { !CustomClaims.reserved.contains($0.name) }
            .map { ($0.name, $0.value) }
    }

    /// Returns the claims about the user that the scopes grant (OpenID Connect Core §5.1 and §5.4).
    static func person(_ standing: Standing, _ scopes: Scopes) -> JSONObject {
        let account = standing.account
        var claims = JSONObject()
        if scopes.names.contains("email"), let email = account.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(account.isEmailVerified)
        }
        if scopes.names.contains("profile") {
            let names = [("name", "displayName"), ("given_name", "givenName"), ("family_name", "surname"), ("picture", "picture")]
            for (claim, attribute) in names { claims[claim] = account.attributes[attribute] }
            claims["preferred_username"] = account.username.map { .string($0) }
            claims["updated_at"] = .number(JSONNumber(account.updatedAt))
        }
        return claims
    }

    /// Returns the value of `at_hash` (OpenID Connect Core §3.1.3.6): the left half of the hash that the signature uses.
    private static func halfHash(_ token: String, _ algorithm: Crypto.SigningAlgorithm) -> String {
        let bytes = Array(token.utf8)
        let hash =
            switch algorithm {
            case .ES256, .RS256: Hash.sha256(bytes)
            case .ES384: Hash.sha384(bytes)
            case .RS512, .EdDSA: Hash.sha512(bytes)
            }
        return Base64URL.encode(hash.prefix(hash.count / 2))
    }
}

extension Scopes {
    /// The scope in tokens and responses, or `nil` if it is empty, because it must contain at least one name (RFC 6749 §3.3).
    var shown: JSONValue? { names.isEmpty ? nil : .string(text) }
}

extension JSONObject {
    /// The thumbprint of the key to which these claims are bound (RFC 9449 §6.1).
    var boundKey: String? { self["cnf"]?["jkt"]?.string }

    /// Returns these claims bound to a key.
    func bound(to thumbprint: String?) -> JSONObject {
        var claims = self
        claims["cnf"] = thumbprint.map { ["jkt": .string($0)] }
        return claims
    }
}
