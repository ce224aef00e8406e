import Accounts
import Contract
import Crypto
import JSON
import SigningKeys

/// Transaction tokens, which carry the user and the context of one request through the workloads of a trust domain
/// (draft-ietf-oauth-transaction-tokens).
extension TestProvider {
    static let transactionType = "urn:ietf:params:oauth:token-type:txn_token"
    private static let transactionSeconds: Int64 = 300
    /// The maximum length of `request_context` and of `request_details`, in bytes.
    private static let maximumContextBytes = 4096

    /// Issues a transaction token for the user of an access token.
    func transaction(
        _ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters, _ subject: ProvenToken
    ) throws -> JSONObject {
        guard client.known.isOpen || client.isAuthenticated else {
            throw OAuthRefusal(
                "unauthorized_client", "The client \(client.id) has no secret and no keys, so it cannot get transaction tokens.")
        }
        guard subject.isAccess else {
            throw OAuthRefusal(
                "invalid_request", "A transaction token requires an access token as subject_token: an ID token has no scopes.")
        }
        guard form["actor_token"] == nil else {
            throw OAuthRefusal("invalid_request", "A transaction token keeps the actors of subject_token. Omit actor_token.")
        }
        guard let audience = form["audience"] else {
            throw OAuthRefusal("invalid_target", "audience is missing: the name of the trust domain.")
        }
        let scopes = Scopes(form["scope"] ?? "")
        guard !scopes.names.isEmpty else {
            throw OAuthRefusal("invalid_scope", "scope is missing: it names the purpose of the transaction.")
        }
        let missing = Scopes(subject.claims["scope"]?.string ?? "").lacking(scopes.names)
        guard missing.isEmpty else {
            throw OAuthRefusal("invalid_scope", "The given token does not have the scope \(missing.joined(separator: " ")).")
        }
        let now = context.clock.now
        let until = min(now + Self.transactionSeconds, subject.claims["exp"]?.int ?? now)
        var claims: JSONObject = [
            "iss": .string(issuer.url), "aud": .string(audience), "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(until)),
            "txn": .string(context.random.uuid()), "scope": .string(scopes.text), "req_wl": .string(client.id),
        ]
        for name in ["sub", "act"] { claims[name] = subject.claims[name] }
        for (name, parameter) in [("rctx", "request_context"), ("tctx", "request_details")] {
            claims[name] = try Self.object(parameter, form)
        }
        claims = claims.changed(by: memory.withLock { $0.nextClaims(of: issuer.name) })
        let signer = JWSSigner(try signingKey(of: issuer, at: now).privateKey, type: TokenType.transaction)
        return [
            "access_token": .string(try signer.sign(JSONValue.object(claims).bytes)), "token_type": "N_A",
            "issued_token_type": .string(Self.transactionType), "expires_in": .number(JSONNumber(until - now)),
            "scope": .string(scopes.text),
        ]
    }

    private static func object(_ name: String, _ form: ProviderParameters) throws -> JSONValue? {
        guard let text = form[name] else { return nil }
        guard text.utf8.count <= maximumContextBytes, let value = try? JSONValue(parsing: text), value.object != nil else {
            throw OAuthRefusal("invalid_request", "\(name) must be a JSON object of at most \(maximumContextBytes) bytes.")
        }
        return value
    }
}
