import Contract
import Federation
import JSON
import Network
import Platform
import ServiceContext

/// Authenticates a user by an opaque access token. Only the provider can verify such a token, so its API is called for the client that the
/// token was issued to and for the subject.
struct AccessTokenIdentity: Sendable {
    private let context: ServiceContext

    init(_ context: ServiceContext) { self.context = context }

    /// - Throws: `InvalidCredential`, `ProviderUnavailable`, `ProviderUnusable`.
    func identity(of token: String, from idp: IdpRecord, _ call: any CallContext) throws -> ProviderIdentity {
        guard let base = idp.endpoint else {
            throw InvalidCredential(
                providerId: idp.providerId, check: "accessToken",
                reason: "The audience of an access token of \(idp.providerId) cannot be verified. Send the ID token as well.")
        }
        switch idp.known {
        case .google: return try google(token, base, idp, call: call)
        case .facebook: return try facebook(token, base, idp, call: call)
        default: return try github(token, base, idp, call: call)
        }
    }

    private func google(_ token: String, _ base: String, _ idp: IdpRecord, call: any CallContext) throws -> ProviderIdentity {
        let facts = try ask(LoginProviderRequest("\(base)/tokeninfo?access_token=\(PercentEncoding.encode(token))"), idp, call)
        try checkClient(facts["aud"]?.string, idp)
        return ProviderIdentity(facts, subject: try subject(facts["sub"], idp), idp)
    }

    private func facebook(_ token: String, _ base: String, _ idp: IdpRecord, call: any CallContext) throws -> ProviderIdentity {
        let app = try ask(LoginProviderRequest("\(base)/app?access_token=\(PercentEncoding.encode(token))"), idp, call)
        try checkClient(app["id"]?.string, idp)
        let me = "\(base)/me?fields=id,name,email,picture&access_token=\(PercentEncoding.encode(token))"
        var person = try ask(LoginProviderRequest(me), idp, call)
        let subject = try subject(person["id"], idp)
        if let picture = person["picture"]?["data"]?["url"] { person["picture"] = picture }
        return ProviderIdentity(person, subject: subject, idp)
    }

    private func github(_ token: String, _ base: String, _ idp: IdpRecord, call: any CallContext) throws -> ProviderIdentity {
        let client = idp.settings.clientId
        let basic = Base64.encode(Array("\(client):\(try idp.openSecret(context.vault) ?? "")".utf8))
        let made = try ask(
            LoginProviderRequest(
                "\(base)/applications/\(PercentEncoding.encode(client))/token", headers: [("Authorization", "Basic \(basic)")],
                body: JSONValue.object(["access_token": .string(token)]).bytes), idp, call)
        try checkClient(made["app"]?["client_id"]?.string, idp)
        var person = try ask(LoginProviderRequest("\(base)/user", headers: [("Authorization", "Bearer \(token)")]), idp, call)
        let subject = try subject(person["id"], idp)
        if let picture = person["avatar_url"] { person["picture"] = picture }
        return ProviderIdentity(person, subject: subject, idp)
    }

    private func ask(_ question: LoginProviderRequest, _ idp: IdpRecord, _ call: any CallContext) throws -> JSONObject {
        let (status, answer) = try context.foreign.object(question, of: idp.address, call)
        switch status {
        case 200: return answer.value.object ?? [:]
        case 400, 401, 403, 404, 422:
            if GraphAPIError.isTemporary(answer["error"]) {
                throw ProviderUnavailable(provider: idp.providerId, reason: "The provider is temporarily unavailable (HTTP \(status)).")
            }
            throw refusal(idp, "The provider does not accept the access token (HTTP \(status)).")
        default:
            throw ProviderUnusable(
                provider: idp.providerId, check: "status", reason: "The provider returned HTTP \(status). Check the endpoint.")
        }
    }

    private func checkClient(_ client: String?, _ idp: IdpRecord) throws {
        guard let client, idp.clientIds.contains(client) else {
            throw InvalidCredential(
                providerId: idp.providerId, check: "audience",
                reason: "The access token was issued to another client than \(idp.settings.clientId).")
        }
    }

    private func subject(_ node: JSONValue?, _ idp: IdpRecord) throws -> String {
        let subject = node?.string ?? node?.int.map { "\($0)" } ?? ""
        guard (1...255).contains(subject.utf8.count) else {
            throw refusal(idp, "The provider did not return the subject of the access token.")
        }
        return subject
    }

    private func refusal(_ idp: IdpRecord, _ reason: String) -> InvalidCredential {
        InvalidCredential(providerId: idp.providerId, check: "accessToken", reason: reason)
    }

}
