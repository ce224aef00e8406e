import Accounts
import Contract
import JSON
import Platform
import Storage

/// The ID tokens and session cookies of a project. They are unsigned as those of the emulator, and mean something only to this API.
struct FirebaseTokens {
    let projectId: String

    enum Issuer: String {
        case token = "https://securetoken.google.com/"
        case cookie = "https://session.firebase.google.com/"
    }

    static let lifetimeSeconds: Int64 = 3600

    /// Returns the claims of the ID token of a session.
    func claims(_ facts: AccountFacts, _ session: SessionRecord, firebaseTenant: String?, at now: Int64) -> JSONObject {
        let account = facts.account
        var claims: JSONObject = [
            "iss": .string(Issuer.token.rawValue + projectId), "aud": .string(projectId), "sub": .string(account.id),
            "user_id": .string(account.id), "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + Self.lifetimeSeconds)),
            "auth_time": .number(JSONNumber(max(session.authenticatedAt, account.validAfter))), "sid": .string(session.id),
        ]
        if let name = account.attributes["displayName"]?.string { claims["name"] = .string(name) }
        if let picture = account.attributes["picture"]?.string { claims["picture"] = .string(picture) }
        if let email = account.email {
            claims["email"] = .string(Username.fold(email))
            claims["email_verified"] = .bool(account.isEmailVerified)
        }
        if let number = facts.phoneNumber { claims["phone_number"] = .string(number) }
        if session.provider == "anonymous" { claims["provider_id"] = "anonymous" }
        for (name, value) in account.claims.members + session.claims.members where !Self.reserved.contains(name) {
            claims[name] = value
        }
        claims["firebase"] = .object(details(facts, session, firebaseTenant))
        return claims
    }

    private func details(_ facts: AccountFacts, _ session: SessionRecord, _ firebaseTenant: String?) -> JSONObject {
        var identities = JSONObject()
        if let email = facts.account.email { identities["email"] = [.string(Username.fold(email))] }
        if let number = facts.phoneNumber { identities["phone"] = [.string(number)] }
        for login in facts.logins { identities[login.providerId] = [.string(login.subject)] }
        let provider = session.provider == "code" ? "password" : session.provider
        var details: JSONObject = ["identities": .object(identities), "sign_in_provider": .string(provider)]
        if let factor = session.secondFactor {
            details["sign_in_second_factor"] = .string(factor.kind == "sms" ? "phone" : factor.kind)
            details["second_factor_identifier"] = .string(factor.factorId)
        }
        details["tenant"] = firebaseTenant.map { .string($0) }
        // A replacement for tokens that a change of the user revoked has the time of the change in `auth_time`, by which the Admin SDKs
        // recognize revoked tokens. It does not count as a new sign-in.
        if session.authenticatedAt < facts.account.validAfter {
            details["signed_in_at"] = .number(JSONNumber(session.authenticatedAt))
        }
        return details
    }

    /// The names that custom claims cannot have.
    static let reserved: Set<String> = [
        "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf", "auth_time", "firebase", "at_hash", "c_hash",
    ]

    static func unsigned(_ claims: JSONObject) -> String {
        let header = #"{"alg":"none","typ":"JWT"}"#
        return "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(JSONValue.object(claims).bytes))."
    }

    /// Returns the claims of a JWT without verifying it, or of plain JSON claims.
    static func claims(of token: String) -> JSONObject? {
        if token.hasPrefix("{") { return (try? JSONValue(parsing: token))?.object }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])) else { return nil }
        return (try? JSONValue(parsing: payload))?.object
    }
}

/// The user and the session of a verified ID token.
struct FirebaseUser {
    let facts: AccountFacts
    /// The session, or `nil` if it has ended but its tokens are still accepted.
    let session: SessionRecord?
    let claims: JSONObject

    var account: AccountRecord { facts.account }

    var issuedAt: Int64 { claims["iat"]?.int ?? 0 }
    /// The time of the sign-in, which changes of the user do not renew.
    var signedInAt: Int64 { (claims["firebase"]?.object?["signed_in_at"] ?? claims["auth_time"])?.int ?? 0 }
    var provider: String { claims["firebase"]?.object?["sign_in_provider"]?.string ?? "password" }
}
