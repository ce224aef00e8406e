import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// Calls about identity providers other than the sign-in.
extension FirebaseCall {
    /// Returns a user who has an address at an identity provider, or `nil`.
    func owner(ofProviderAddress email: String) throws -> AccountRecord? {
        let tenantId = tenantId
        return try context.database.read { tx in
            try tx.queryOne(
                "SELECT account_id FROM account_login WHERE tenant_id = $1 AND email = $2 ORDER BY account_id LIMIT 1", tenantId, email
            ) { $0.string(0) }.flatMap { try tx.account($0) }
        }
    }

    /// Returns the URL at which a sign-in with a provider begins (`accounts:createAuthUri` with `providerId`). At the address of a test,
    /// it is the page in place of the provider, which continues with the response in the query of `url`.
    func authorizationURL(at provider: String, continuingAt url: String) throws -> JSONObject {
        guard endpoint.isTest else { throw FirebaseError.notOffered("createAuthUri with providerId") }
        try requireProvider(provider)
        if url.contains("#") { throw FirebaseError("INVALID_CONTINUE_URI") }
        let session = try body.filled("sessionId") ?? Base64URL.encode(context.random.bytes(18))
        var query = [
            ("apiKey", request.parameter("key") ?? "fake-api-key"), ("appName", "rest"), ("authType", "createAuthUri"),
            ("providerId", provider), ("redirectUrl", url), ("eventId", session),
        ]
        if let firebaseTenant { query.append(("tid", firebaseTenant)) }
        let text = query.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        return [
            "kind": "identitytoolkit#CreateAuthUriResponse", "providerId": .string(provider), "sessionId": .string(session),
            "authUri": .string("http://\(request.header("host") ?? "127.0.0.1")/emulator/auth/handler?\(text)"),
        ]
    }

    private static let tokenTypes = ["TOKEN_TYPE_UNSPECIFIED", "REFRESH_TOKEN", "ACCESS_TOKEN", "CODE"]

    /// Revokes a token of Apple. At the address of a test, the page in place of Apple issues no tokens, so only the request is checked.
    func revokeToken() throws -> JSONObject {
        guard path.version == "v2" else { throw FirebaseError.notFound }
        guard endpoint.isTest else { throw FirebaseError.notOffered("accounts:revokeToken") }
        let user = try user()
        guard try body.filled("providerId") == "apple.com" else {
            throw FirebaseError("INVALID_PROVIDER_ID : Only apple.com has tokens to revoke.")
        }
        let type = try body.choice("tokenType", of: Self.tokenTypes)
        if type == nil || type == Self.tokenTypes[0] { throw FirebaseError("MISSING_TOKEN_TYPE") }
        guard try body.filled("token") != nil else { throw FirebaseError("MISSING_TOKEN") }
        guard user.facts.logins.contains(where: { $0.providerId == "apple.com" }) else {
            throw FirebaseError("INVALID_PROVIDER_ID : The user has no login at apple.com.")
        }
        return [:]
    }
}
