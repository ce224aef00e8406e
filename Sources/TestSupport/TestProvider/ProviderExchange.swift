import Accounts
import Contract
import JSON
import ServiceContext
import SigningKeys

extension TestProvider {
    /// Issues an access token for the client itself (RFC 6749 §4.4).
    func clientToken(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject {
        if !client.known.isOpen, !client.isAuthenticated {
            throw OAuthRefusal("unauthorized_client", "The client \(client.id) has no secret and no keys, and can only act for users.")
        }
        let now = context.clock.now
        let scopes = Scopes(form["scope"] ?? "")
        let audience = try issuer.audience(in: form)
        try issuer.check(scopes, for: audience)
        let claims: JSONObject = ["sub": .string(client.id)]
        return try access(
            AccessTokenDraft(
                claims: claims.bound(to: client.thumbprint), audience: audience ?? client.id, clientId: client.id, scopes: scopes,
                expiresAt: now + issuer.tenant.tokens.accessTokenSeconds), of: issuer, at: now)
    }

    /// Exchanges a token for one with another audience, scope or actor (RFC 8693 §2).
    func exchange(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject {
        let subject = try shown("subject_token", form, at: issuer)
        guard let subject else { throw OAuthRefusal("invalid_request", "subject_token is missing.") }
        let actor = try shown("actor_token", form, at: issuer)
        if let key = subject.claims.boundKey, key != client.thumbprint {
            throw OAuthRefusal("invalid_request", "subject_token is bound to a key: send a DPoP proof of that key (RFC 9449).")
        }
        try Self.checkPermission(of: subject, for: actor)
        if form["requested_token_type"] == Self.assertionType { return try assertion(client, of: issuer, form, subject) }
        if form["requested_token_type"] == Self.transactionType { return try transaction(client, of: issuer, form, subject) }
        if let wanted = form["requested_token_type"], ![Self.accessToken, Self.jwt].contains(wanted) {
            throw OAuthRefusal(
                "invalid_request",
                "requested_token_type must be \(Self.accessToken), \(Self.jwt), \(Self.assertionType) or \(Self.transactionType).")
        }
        let granted = Scopes(subject.claims["scope"]?.string ?? "")
        let scopes = form["scope"].map { Scopes($0) } ?? granted
        // An ID token contains no scopes, so it does not limit them. An access token without scopes allows none.
        let isBounded = subject.claims["scope"] != nil || subject.isAccess
        let missing = isBounded ? granted.lacking(scopes.names) : []
        if !missing.isEmpty {
            throw OAuthRefusal("invalid_scope", "The given token does not have the scope \(missing.joined(separator: " ")).")
        }
        let now = context.clock.now
        let audience = try issuer.settings.resources == nil ? form["audience"] ?? form["resource"] : issuer.audience(in: form)
        try issuer.check(scopes, for: audience)
        var claims = JSONObject()
        for name in ["sub", "sid", "auth_time", "amr"] { claims[name] = subject.claims[name] }
        for (name, value) in subject.standing.map(Self.custom) ?? [] { claims[name] = value }
        claims["act"] = subject.claims["act"]
        if let actor {
            // The current actor is the outer member; previous actors are nested inside (RFC 8693 §4.1).
            var act: JSONObject = ["sub": actor.claims["sub"] ?? .null]
            act["act"] = subject.claims["act"]
            claims["act"] = .object(act)
            guard Self.actors(in: claims["act"]) <= ActorChain.maximum else {
                throw OAuthRefusal("invalid_request", "A token can have at most \(ActorChain.maximum) actors.")
            }
        }
        let until = min(now + issuer.tenant.tokens.accessTokenSeconds, subject.claims["exp"]?.int ?? now)
        var answer = try access(
            AccessTokenDraft(
                claims: claims.bound(to: client.thumbprint), audience: audience ?? client.id, clientId: client.id, scopes: scopes,
                expiresAt: until), of: issuer, at: now)
        answer["issued_token_type"] = .string(form["requested_token_type"] ?? Self.accessToken)
        return answer
    }

    private static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"
    private static let jwt = "urn:ietf:params:oauth:token-type:jwt"

    /// Checks that the claim `may_act` of the subject token permits the actor (RFC 8693 §4.4). The new token does not contain the claim,
    /// so without the check its limit would be lost.
    private static func checkPermission(of subject: ProvenToken, for actor: ProvenToken?) throws {
        func refuse(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_request", reason) }
        guard let permission = subject.claims["may_act"] else { return }
        guard var wanted = permission.object, wanted["sub"]?.string != nil else {
            throw refuse("The may_act of subject_token is not an object with sub.")
        }
        guard let actor else { throw refuse("subject_token has the claim may_act: send the token of that actor as actor_token.") }
        if wanted["iss"] == nil { wanted["iss"] = subject.claims["iss"] }
        var claims = actor.claims
        // The audience of an ID token is its client.
        if !actor.isAccess { claims["client_id"] = claims["aud"] }
        guard wanted.members.allSatisfy({ claims[$0.name] == $0.value }) else {
            throw refuse("The may_act of subject_token names another actor than actor_token.")
        }
    }

    private static func actors(in act: JSONValue?) -> Int {
        var (count, next) = (0, act)
        while let actor = next { (count, next) = (count + 1, actor["act"]) }
        return count
    }

    /// Verifies a token parameter: a token of this provider or of the tenant (RFC 8693 §2.1). Returns `nil` if the parameter is missing.
    private func shown(_ name: String, _ form: ProviderParameters, at issuer: ProviderIssuer) throws -> ProvenToken? {
        guard let token = form[name] else {
            if form["\(name)_type"] != nil { throw OAuthRefusal("invalid_request", "\(name)_type requires a \(name).") }
            return nil
        }
        let types: Set<String>
        switch form["\(name)_type"] {
        case Self.accessToken: types = [TokenType.access]
        case Self.idToken: types = [TokenType.id]
        case Self.jwt: types = [TokenType.access, TokenType.id]
        default: throw OAuthRefusal("invalid_request", "\(name)_type must be \(Self.accessToken), \(Self.idToken) or \(Self.jwt).")
        }
        do {
            return try proven(token, types, of: issuer) { self.owner(ofIssuer: $0) == .tenant(issuer.tenant.id) }
        } catch let refusal as OAuthRefusal {
            throw OAuthRefusal("invalid_request", "\(name): \(refusal.description ?? refusal.code)")
        } catch let error as any ContractError {
            throw OAuthRefusal("invalid_request", "\(name): \(error.message)")
        }
    }

    /// Returns a response with only an access token, including the enqueued claims.
    func access(_ draft: AccessTokenDraft, of issuer: ProviderIssuer, at now: Int64) throws -> JSONObject {
        let key = try signingKey(of: issuer, at: now)
        let extra = memory.withLock { $0.nextClaims(of: issuer.name) }
        var signed = draft
        signed.claims = ["iss": .string(issuer.url), "iat": .number(JSONNumber(now))]
        for (name, value) in draft.claims.members { signed.claims[name] = value }
        let token = try accessToken(signed, extra: extra, key: key)
        var answer: JSONObject = [
            "access_token": .string(token), "token_type": draft.claims.boundKey == nil ? "Bearer" : "DPoP",
            "expires_in": .number(JSONNumber(draft.expiresAt - now)),
        ]
        answer["scope"] = draft.scopes.shown
        return answer
    }
}
