import Contract
import JSON
import Platform
import ServiceContext

/// Reads the claims of a provider's UserInfo endpoint. Some providers return email address and name only there if an access token is issued
/// (OpenID Connect Core §5.3 and §5.4).
struct UserInfo: Sendable {
    private let context: ServiceContext

    init(_ context: ServiceContext) { self.context = context }

    /// Adds the claims of the UserInfo endpoint to those of an ID token. The claims of the ID token take precedence, because they are
    /// signed. The endpoint is called only if the ID token lacks the email address or the name. If it fails, the sign-in continues without
    /// it.
    ///
    /// - Throws: `InvalidCredential` if the access token belongs to another subject; `Cancelled`.
    func adding(to claims: JSONObject, subject: String, of given: FlowCredentialVerifier.Given, _ call: any CallContext) throws
        -> JSONObject
    {
        guard let endpoint = given.flow.userinfoEndpoint, let token = given.accessToken, given.flow.kind != .idToken,
            claims["email"] == nil || claims["name"] == nil
        else { return claims }
        let question = LoginProviderRequest(
            endpoint, headers: [("Authorization", "Bearer \(token)")], namedBy: given.idp.issuers.first)
        let (status, answer): (Int, JSONNode)
        do { (status, answer) = try context.foreign.object(question, of: given.idp.address, call) } catch is ProviderUnavailable {
            return claims
        } catch is ProviderUnusable { return claims }
        // A response without a subject cannot be assigned to a user (OpenID Connect Core §5.3.2).
        guard status == 200, let said = answer.value.object, let whose = said["sub"]?.string else { return claims }
        guard whose.utf8.elementsEqual(subject.utf8) else {
            throw InvalidCredential(
                providerId: given.idp.providerId, check: "userInfo",
                reason: "The UserInfo endpoint returned another subject than the ID token. Start again with idp.authorize.")
        }
        return Self.united(claims, said)
    }

    static func united(_ claims: JSONObject, _ said: JSONObject) -> JSONObject {
        var all = claims
        // `email_verified` applies to the address in the same response.
        let isOtherAddress = claims["email"] != nil && claims["email"] != said["email"]
        for (name, value) in said.members where all[name] == nil && value != .null {
            if name == "email_verified", isOtherAddress { continue }
            all[name] = value
        }
        return all
    }
}
