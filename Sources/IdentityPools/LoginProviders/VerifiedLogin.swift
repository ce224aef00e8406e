import Contract
import Crypto
import Federation
import JSON
import Platform
import ServiceContext

/// A verified public login.
struct VerifiedLogin: Sendable {
    let provider: LoginProvider
    let login: Login
    /// The element of `amr` that identifies the provider and the user.
    let qualified: String
    /// The claims of the provider's token; for access tokens `iss`, `aud` and `sub`.
    let claims: JSONNode
    /// The key of the provider in role mappings. For a user pool it includes the app client.
    let mappingKey: String

    init(of subject: String, for clientId: String, from provider: LoginProvider, claims: JSONNode, realm: Deployment) {
        self.provider = provider
        login = provider.login(subject: subject, clientId: clientId)
        qualified = provider.qualified(subject: subject, clientId: clientId, realm: realm)
        self.claims = claims
        mappingKey = provider.mappingKey(clientId: clientId)
    }
}

/// The validated claims of an ID token that proves a login (OpenID Connect Core 1.0 §3.1.3.7). The signature is verified separately.
struct IDTokenClaims {
    let subject: String
    /// The registered client for which the token was issued.
    let clientId: String
    let json: JSONNode

    /// - Throws: `LoginTokenInvalid` with the name of the failed check.
    init(_ payload: [UInt8], from provider: LoginProvider, now: Int64) throws {
        func refuse(_ check: String, _ reason: String) -> LoginTokenInvalid {
            LoginTokenInvalid(provider: provider.name, check: check, reason: reason)
        }
        guard case .openID(let issuers) = provider.kind, let json = try? JSONText(payload).root, json.kind == .object else {
            throw refuse("malformed", "Its claims are not a JSON object.")
        }
        guard let issuer = json["iss"]?.string, issuers.contains(where: { $0.hasBytes(of: issuer) }) else {
            throw refuse("issuer", "Issuer doesn't match providerName")
        }
        let client: String
        do throws(ExternalTokenRules.Refusal) {
            try ExternalTokenRules.checkPurpose(json)
            client = try ExternalTokenRules.client(
                of: json, among: provider.clientIds, acceptsAnyParty: issuers.contains(where: ExternalTokenRules.acceptsAnyParty))
        } catch { throw refuse(error.check == .type ? "type" : "audience", error.reason) }
        guard let exp = json["exp"] else { throw refuse("expired", "Missing a required claim: exp") }
        guard let expiresAt = NumericDate.seconds(exp) else {
            throw refuse("expired", "Its claim exp is not a number of seconds since 1970.")
        }
        guard expiresAt > now - ExternalTokenRules.leewaySeconds else { throw refuse("expired", "Token expired: \(now) >= \(expiresAt)") }
        for name in ["iat", "nbf"] {
            guard let claim = json[name] else { continue }
            guard let moment = NumericDate.seconds(claim) else {
                throw refuse("notYetValid", "Its claim \(name) is not a number of seconds since 1970.")
            }
            if moment > now + ExternalTokenRules.leewaySeconds {
                throw refuse("notYetValid", "Token is not valid before \(moment); the current time is \(now).")
            }
        }
        guard let subject = json["sub"]?.string, !subject.isEmpty else { throw refuse("subject", "Missing a required claim: sub") }
        if let flaw = LoginSubject.flaw(subject) { throw refuse("subject", "Its claim sub \(flaw).") }
        self.subject = subject
        clientId = client
        self.json = json
    }
}
