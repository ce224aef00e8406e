import Contract
import Federation
import JSON
import Platform
import ServiceContext

/// Verifies logins with access tokens that only their provider can verify: Facebook, with the app and the user of the token (`/app`,
/// `/me`), and Login with Amazon (`/auth/o2/tokeninfo`).
struct AccessTokenCheck: Sendable {
    private let context: ServiceContext

    init(_ context: ServiceContext) { self.context = context }

    /// - Throws: `LoginTokenInvalid`, `ProviderUnavailable`, `ProviderUnusable`.
    func proof(of token: String, from provider: LoginProvider, _ call: any CallContext, now: Int64) throws -> VerifiedLogin {
        let (clientId, subject) =
            provider.kind == .amazon ? try amazon(token, provider, call, now: now) : try facebook(token, provider, call)
        guard provider.clientIds.contains(clientId) else {
            throw refusal(provider, "audience", "It was issued to another app than those of the pool's provider.")
        }
        guard !subject.isEmpty else { throw refusal(provider, "subject", "It contains no user.") }
        if let flaw = LoginSubject.flaw(subject) { throw refusal(provider, "subject", "The user ID \(flaw).") }
        let claims: JSONValue = ["iss": .string(provider.name), "aud": .string(clientId), "sub": .string(subject)]
        return VerifiedLogin(
            of: subject, for: clientId, from: provider, claims: try JSONText(claims.text).root, realm: context.realm)
    }

    private func facebook(_ token: String, _ provider: LoginProvider, _ call: any CallContext) throws -> (clientId: String, subject: String)
    {
        let base = provider.endpoint ?? "https://graph.facebook.com"
        let app = try ask("\(base)/app?access_token=\(PercentEncoding.encode(token))", provider, call)
        let user = try ask("\(base)/me?fields=id&access_token=\(PercentEncoding.encode(token))", provider, call)
        return (app["id"]?.string ?? "", user["id"]?.string ?? "")
    }

    private func amazon(
        _ token: String, _ provider: LoginProvider, _ call: any CallContext, now: Int64
    ) throws -> (clientId: String, subject: String) {
        let base = provider.endpoint ?? "https://api.amazon.com"
        let facts = try ask(
            "\(base)/auth/o2/tokeninfo?access_token=\(PercentEncoding.encode(token))", provider, call)
        guard facts["iss"]?.string == "https://www.amazon.com" else {
            throw refusal(provider, "issuer", "Login with Amazon returned another issuer.")
        }
        // The remaining lifetime of the token, in seconds.
        if let left = facts["exp"].flatMap(NumericDate.seconds), left <= 0 {
            throw refusal(provider, "expired", "Token expired: \(now) >= \(now + left)")
        }
        return (facts["aud"]?.string ?? "", facts["user_id"]?.string ?? "")
    }

    private func ask(_ url: String, _ provider: LoginProvider, _ call: any CallContext) throws -> JSONNode {
        let (status, object) = try context.foreign.object(LoginProviderRequest(url), of: provider.address, call)
        switch status {
        case 200: return object
        case 400, 401, 403:
            if GraphAPIError.isTemporary(object["error"]) {
                throw ProviderUnavailable(provider: provider.name, reason: "The provider is temporarily unavailable (HTTP \(status)).")
            }
            throw refusal(provider, "signature", "The provider does not accept it (HTTP \(status)).")
        default:
            throw ProviderUnusable(
                provider: provider.name, check: "status", reason: "The provider returned HTTP \(status). Check the endpoint.")
        }
    }

    private func refusal(_ provider: LoginProvider, _ check: String, _ reason: String) -> LoginTokenInvalid {
        LoginTokenInvalid(provider: provider.name, check: check, reason: reason)
    }
}
