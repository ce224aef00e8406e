import Contract
import JSON
import Platform
import ServiceContext

/// What a provider tells of a person beside their ID token. Strict ones tell address and name there alone, where an access token is
/// issued (OpenID Connect Core 5.3, 5.4; firebase.md 3.6).
struct UserInfo: Sendable {
    private let surroundings: ServiceContext

    init(_ surroundings: ServiceContext) { self.surroundings = surroundings }

    /// The claims of an ID token with those that only the provider's UserInfo endpoint has. What the ID token says stays: it is signed.
    /// Nobody is asked where it says address and name; and a provider that does not answer keeps nobody from signing in.
    ///
    /// - Throws: `InvalidCredential` if the access token is somebody else's; `CancellationError`, and what has the call wait elsewhere.
    func adding(to claims: JSONObject, subject: String, of given: FlowProofs.Given, _ call: any CallContext) throws -> JSONObject {
        guard let endpoint = given.flow.userinfoEndpoint, let token = given.accessToken, given.flow.kind != .idToken,
            claims["email"] == nil || claims["name"] == nil
        else { return claims }
        let question = ProviderQuestion(
            endpoint, headers: [("Authorization", "Bearer \(token)")], namedBy: given.idp.issuers.first)
        let (status, answer): (Int, JSONNode)
        do { (status, answer) = try surroundings.foreign.object(question, of: given.idp.address, call) } catch is ProviderUnavailable {
            return claims
        } catch is ProviderUnusable { return claims }
        // Without a subject nobody can tell whom it is about (OpenID Connect Core 5.3.2).
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
        // Whether an address is verified is said of that address, by whoever says the address.
        let isOtherAddress = claims["email"] != nil && claims["email"] != said["email"]
        for (name, value) in said.members where all[name] == nil && value != .null {
            if name == "email_verified", isOtherAddress { continue }
            all[name] = value
        }
        return all
    }
}
