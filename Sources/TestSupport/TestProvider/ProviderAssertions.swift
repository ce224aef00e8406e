import Accounts
import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys

/// Identity assertions with which a user of one issuer gets an access token of another (Identity Assertion Authorization Grant).
extension TestProvider {
    static let assertionType = "urn:ietf:params:oauth:token-type:id-jag"
    static let assertionProfile = "urn:ietf:params:oauth:grant-profile:id-jag"
    private static let assertionHeader = "oauth-id-jag+jwt"
    private static let assertionSeconds: Int64 = 300
    /// The longest lifetime of an assertion that is accepted.
    private static let longestAssertionSeconds: Int64 = 600

    /// Issues an assertion about the user of an ID token, for another authorization server.
    func assertion(
        _ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters, _ subject: ProvenToken
    ) throws -> JSONObject {
        guard !subject.isAccess, let standing = subject.standing else {
            throw OAuthRefusal("invalid_request", "An identity assertion requires an ID token as subject_token.")
        }
        guard form["actor_token"] == nil else { throw OAuthRefusal("invalid_request", "An identity assertion has no actor.") }
        guard let audience = form["audience"] else {
            throw OAuthRefusal("invalid_target", "audience is missing: the issuer of the authorization server that accepts the assertion.")
        }
        let now = context.clock.now
        var claims: JSONObject = [
            "iss": .string(issuer.url), "sub": .string(standing.account.id), "aud": .string(audience), "client_id": .string(client.id),
            "jti": .string(context.random.uuid()), "iat": .number(JSONNumber(now)),
            "exp": .number(JSONNumber(now + Self.assertionSeconds)), "auth_time": .number(JSONNumber(standing.session.authenticatedAt)),
        ]
        for name in ["resource", "scope"] { claims[name] = form[name].map { .string($0) } }
        claims["amr"] = subject.claims["amr"]
        if let email = standing.account.email, standing.account.isEmailVerified {
            (claims["email"], claims["email_verified"]) = (.string(email), true)
        }
        claims = claims.changed(by: memory.withLock { $0.nextClaims(of: issuer.name) })
        let signer = JWSSigner(try signingKey(of: issuer, at: now).privateKey, type: Self.assertionHeader)
        var answer: JSONObject = [
            "access_token": .string(try signer.sign(JSONValue.object(claims).bytes)), "token_type": "N_A",
            "issued_token_type": .string(Self.assertionType), "expires_in": .number(JSONNumber(Self.assertionSeconds)),
        ]
        answer["scope"] = claims["scope"]
        return answer
    }

    /// Exchanges an assertion of another issuer of this provider (RFC 7523 §2.1). The answer has no refresh token.
    func redeemAssertion(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject {
        guard let token = form["assertion"] else { throw OAuthRefusal("invalid_request", "assertion is missing.") }
        guard client.known.isOpen || client.isAuthenticated else {
            throw OAuthRefusal("unauthorized_client", "The client \(client.id) has no secret and no keys, so it cannot redeem assertions.")
        }
        let now = context.clock.now
        let claims = try verified(token, for: client, at: issuer, at: now)
        let scopes = try scopes(of: claims, form)
        guard let account = try account(of: claims, at: issuer) else {
            throw OAuthRefusal(
                "invalid_grant",
                "The tenant \(issuer.tenant.id) has no account for the user of the assertion. "
                    + "Create one with the same verified email address, or configure test.idp with createAccounts."
            )
        }
        let audience = try target(of: claims, form, at: issuer)
        try issuer.check(scopes, for: audience)
        let standing = try beginSession(of: account, issuer.tenant, .address)
        // The assertion is used up last, so that the client can repeat the request after an error.
        let name = "\(claims["iss"]?.string ?? "") \(claims["jti"]?.string ?? "")"
        let isFirst = memory.withLock { memory in
            guard memory.assertions[name] == nil else { return false }
            memory.assertions[name] = true
            return true
        }
        guard isFirst else {
            try endSession(standing.id)
            throw OAuthRefusal("invalid_grant", "The assertion was already used.")
        }
        var access: JSONObject = ["sub": .string(account), "sid": .string(standing.id)]
        access["auth_time"] = claims["auth_time"]
        access["amr"] = claims["amr"]
        return try self.access(
            AccessTokenDraft(
                claims: access.bound(to: client.thumbprint), audience: audience ?? client.id, clientId: client.id, scopes: scopes,
                expiresAt: now + issuer.tenant.tokens.accessTokenSeconds), of: issuer, at: now)
    }

    /// Verifies an assertion.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_grant`.
    private func verified(_ token: String, for client: ProviderClient, at issuer: ProviderIssuer, at now: Int64) throws -> JSONObject {
        func refuse(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_grant", "The assertion is not accepted: \(reason)") }
        let (jws, key) = try signature(of: token, at: issuer)
        guard jws.header.hasType(Self.assertionHeader) else { throw refuse("its typ must be \(Self.assertionHeader).") }
        guard let claims = (try? JSONValue(parsing: jws.payload))?.object else { throw refuse("it has no claims.") }
        guard let iss = claims["iss"]?.string, let owner = owner(ofIssuer: iss), owner == key.owner else {
            throw refuse("its iss must be an issuer of this provider whose key has signed it.")
        }
        guard let audience = claims["aud"]?.string, audience == issuer.url else { throw refuse("its aud must be \(issuer.url).") }
        guard claims["client_id"]?.string == client.id else { throw refuse("its client_id must be \(client.id).") }
        guard claims["sub"]?.string?.isEmpty == false, claims["jti"]?.string.map({ 1...256 ~= $0.utf8.count }) == true,
            let issuedAt = claims["iat"]?.int, let expiresAt = claims["exp"]?.int
        else { throw refuse("it must contain sub, jti, iat and exp.") }
        guard issuedAt <= now + 60, now < expiresAt else { throw refuse("it has expired, or is not valid yet.") }
        guard issuedAt >= 0, expiresAt - issuedAt <= Self.longestAssertionSeconds else {
            throw refuse("its lifetime must be at most \(Self.longestAssertionSeconds) seconds.")
        }
        guard claims["cnf"] == nil else { throw refuse("it is bound to a key.") }
        return claims
    }

    /// Returns the granted scopes: those of the assertion, or fewer of them.
    private func scopes(of claims: JSONObject, _ form: ProviderParameters) throws -> Scopes {
        let granted = claims["scope"]?.string.map { Scopes($0) }
        guard let wanted = form["scope"].map({ Scopes($0) }) else { return granted ?? Scopes("") }
        let missing = granted?.lacking(wanted.names) ?? []
        guard missing.isEmpty else {
            throw OAuthRefusal("invalid_scope", "The assertion does not have the scope \(missing.joined(separator: " ")).")
        }
        return wanted
    }

    /// Returns the audience: the resource of the assertion, which the request can only repeat.
    private func target(of claims: JSONObject, _ form: ProviderParameters, at issuer: ProviderIssuer) throws -> String? {
        let wanted = try issuer.audience(in: form)
        guard let resource = claims["resource"]?.string else { return wanted }
        let granted = try issuer.audience(in: ProviderParameters(Form.encode([("resource", resource)])))
        guard wanted == nil || wanted == granted else {
            throw OAuthRefusal("invalid_target", "The assertion is for the resource \(resource).")
        }
        return granted
    }

    /// Returns the account of the user: the same account if both issuers have one tenant, otherwise the one with the same verified address.
    private func account(of claims: JSONObject, at issuer: ProviderIssuer) throws -> String? {
        if owner(ofIssuer: claims["iss"]?.string ?? "") == .tenant(issuer.tenant.id) {
            let id = claims["sub"]?.string ?? ""
            guard !id.utf8.contains(0), let account = try context.database.read({ try $0.account(id) }), !account.isDisabled else {
                return nil
            }
            return account.id
        }
        guard claims["email_verified"]?.bool == true, let email = claims["email"]?.string, let name = try? Username(email) else {
            return nil
        }
        if let account = try context.database.read({ try $0.account(named: name.folded, in: issuer.tenant.id) }) {
            return account.isDisabled || !account.isEmailVerified ? nil : account.id
        }
        guard issuer.settings.createAccounts else { return nil }
        return try accounts.create(.init(tenantId: issuer.tenant.id, username: email, emailVerified: true), InProcessCall()).accountId
    }
}
