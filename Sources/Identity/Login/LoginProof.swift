import Contract
import Crypto
import JSON
import Platform

/// A public login that was proven.
struct LoginProof: Sendable {
    let provider: LoginProvider
    let login: Login
    /// The element of `amr` that names provider and user (cognito.md 5.3).
    let qualified: String
    /// What the provider says of the user; for providers of access tokens `iss`, `aud` and `sub`.
    let claims: JSONNode
    /// What role mappings call the provider, for a user pool with the app client (1.5).
    let mappingKey: String

    init(of subject: String, for clientId: String, from provider: LoginProvider, claims: JSONNode, realm: Realm) {
        self.provider = provider
        login = provider.login(subject: subject, clientId: clientId)
        qualified = provider.qualified(subject: subject, clientId: clientId, realm: realm)
        self.claims = claims
        mappingKey = provider.mappingKey(clientId: clientId)
    }
}

/// A moment in a token, which may have a fraction (RFC 7519 section 2, NumericDate).
enum NumericDate {
    /// The whole seconds that had passed by then; nil for what is no moment.
    static func seconds(_ claim: JSONNode) -> Int64? {
        guard let number = claim.number else { return nil }
        return seconds(number)
    }

    static func seconds(_ claim: JSONValue?) -> Int64? { claim?.number.flatMap(seconds) }

    private static func seconds(_ number: JSONNumber) -> Int64? { number.int64 ?? Int64(exactly: number.double.rounded(.down)) }
}

/// Whom a provider calls a user.
enum LoginSubject {
    /// Why a user cannot go by this name here, nil if one can: OpenID Connect Core 2 has at most 255 characters, and no text here
    /// has U+0000, which PostgreSQL cannot keep.
    static func flaw(_ subject: String) -> String? {
        if subject.unicodeScalars.count > 255 { return "has more than 255 characters" }
        return subject.utf8.contains(0) ? "contains the character U+0000" : nil
    }
}

/// What an ID token must be to prove a login (cognito.md 4.2; OpenID Connect Core 3.1.3.7). Signature and keys are elsewhere.
struct IDTokenClaims {
    let subject: String
    /// The registered client that it was made for.
    let clientId: String
    let json: JSONNode

    /// Foreign clocks may differ by as much.
    static let leewaySeconds: Int64 = 300

    /// - Throws: `LoginTokenInvalid` naming the check that failed.
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
        do throws(ForeignTokenRules.Refusal) {
            try ForeignTokenRules.checkPurpose(json)
            client = try ForeignTokenRules.client(
                of: json, among: provider.clientIds, acceptsAnyParty: issuers.contains(where: ForeignTokenRules.acceptsAnyParty))
        } catch { throw refuse(error.check == .type ? "type" : "audience", error.reason) }
        guard let exp = json["exp"] else { throw refuse("expired", "Missing a required claim: exp") }
        guard let expiresAt = NumericDate.seconds(exp) else {
            throw refuse("expired", "Its claim exp is not a number of seconds since 1970.")
        }
        guard expiresAt > now - Self.leewaySeconds else { throw refuse("expired", "Token expired: \(now) >= \(expiresAt)") }
        for name in ["iat", "nbf"] {
            guard let claim = json[name] else { continue }
            guard let moment = NumericDate.seconds(claim) else {
                throw refuse("notYetValid", "Its claim \(name) is not a number of seconds since 1970.")
            }
            if moment > now + Self.leewaySeconds {
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
