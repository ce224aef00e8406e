import JSON

/// The claims of a tenant's tokens.
package struct TenantTokenClaims: Sendable {
    let issuer: String
    let tenant: TenantRecord
    let account: AccountRecord
    let session: SessionRecord
    let logins: [AccountLogin]
    let issuedAt: Int64
    /// The authentication contexts of the access token.
    var contexts: [String] = []
    var profile: IDTokenProfile

    /// Returns the payload of the ID token.
    func idToken(expiresAt: Int64) -> [UInt8] {
        var writer = begin(audience: clientId, expiresAt: expiresAt)
        for (name, value) in profile.claims(of: account, issuedAt: issuedAt) {
            writer.key(name)
            writer.value(value)
        }
        if let email = account.email, profile.hasEmail {
            writer.key("email")
            writer.string(email)
            writer.key("email_verified")
            writer.bool(account.isEmailVerified)
        }
        if let username = account.username, !profile.isOn, !hasOwn("preferred_username") {
            writer.key("preferred_username")
            writer.string(username)
        }
        if let name = account.attributes["displayName"]?.string, profile.hasName {
            writer.key("name")
            writer.string(name)
        }
        if let picture = account.attributes["picture"]?.string, profile.hasName {
            writer.key("picture")
            writer.string(picture)
        }
        for attribute in tenant.attributes where attribute.inIdToken && !isReserved(attribute.name) {
            guard let value = account.attributes[attribute.name], account.claims[attribute.name] == nil,
                session.claims[attribute.name] == nil
            else { continue }
            writer.key(attribute.name)
            writer.value(value)
        }
        writer.key("mintmark")
        var own: JSONObject = [
            "tenant": .string(tenant.id), "sign_in_provider": .string(session.provider),
            "identities": .object(profile.hasEmail ? identities : [:]),
        ]
        own["second_factor"] = session.secondFactor.map { ["kind": .string($0.kind), "factor_id": .string($0.factorId)] }
        writer.value(.object(own))
        return end(&writer)
    }

    /// The application in which the user signed in.
    private var clientId: String { session.grant.application?.clientId ?? tenant.id }

    private func isReserved(_ name: String) -> Bool {
        CustomClaims.isReserved(name) || profile.reserved.contains(name) || name == "acrs" && !tenant.contexts.isEmpty
    }

    /// Whether a custom claim or an attribute has a name that is not reserved: the developer's value takes precedence.
    private func hasOwn(_ name: String) -> Bool {
        session.claims[name] != nil || account.claims[name] != nil
            || tenant.attributes.contains { $0.inIdToken && $0.name == name && account.attributes[name] != nil }
    }

    /// The user's identifiers: the account's email address, and the subject at each provider.
    private var identities: JSONObject {
        var identities: JSONObject = account.email.map { ["email": [.string($0)]] } ?? [:]
        for login in logins { identities[login.providerId] = [.string(login.subject)] }
        return identities
    }

    /// Returns the payload of the access token (RFC 9068 §2.2).
    func accessToken(id: String, audience: String, expiresAt: Int64) -> [UInt8] {
        var writer = begin(audience: audience, expiresAt: expiresAt)
        writer.key("jti")
        writer.string(id)
        writer.key("client_id")
        writer.string(clientId)
        if session.grant.application != nil {
            writer.key("azp")
            writer.string(clientId)
        }
        writer.key("scope")
        writer.string(session.grant.scopes.text)
        if !contexts.isEmpty {
            writer.key("acrs")
            writer.value(.array(contexts.map { .string($0) }))
        }
        return end(&writer)
    }

    private func begin(audience: String, expiresAt: Int64) -> JSONWriter {
        var writer = JSONWriter(reservingCapacity: 768)
        writer.beginObject()
        for (name, value) in [("iss", issuer), ("aud", audience), ("sub", account.id), ("sid", session.id)] {
            writer.key(name)
            writer.string(value)
        }
        for (name, value) in [("auth_time", session.authenticatedAt), ("iat", issuedAt), ("exp", expiresAt)] {
            writer.key(name)
            writer.int(value)
        }
        writer.key("amr")
        writer.value(.array(session.amr.map { .string($0) }))
        // A passkey resists phishing (OpenID Connect EAP ACR Values 1.0).
        if PasskeyMethods.usedPasskey(session.amr) {
            writer.key("acr")
            writer.string(session.acr ?? PasskeyMethods.resistant)
        }
        return writer
    }

    private func end(_ writer: inout JSONWriter) -> [UInt8] {
        // Claims of the session take precedence over those of the account.
        let claims = session.claims.members + account.claims.members.filter { session.claims[$0.name] == nil }
        for (name, value) in claims where !isReserved(name) {
            writer.key(name)
            writer.value(value)
        }
        writer.endObject()
        return writer.bytes
    }
}
