import Contract
import Federation
import JSON

/// The verified identity of a user at a provider.
struct ProviderIdentity: Sendable, Equatable {
    let providerId: String
    let subject: String
    /// The email address in lowercase.
    var email: String?
    /// Whether the provider's statement that the user owns the email address is trusted.
    var isEmailTrusted = false
    var displayName: String?
    var photoUrl: String?
    /// The user name at the provider.
    var username: String?
    /// All claims of the provider.
    var profile = JSONObject()
    var idToken: String?
    var accessToken: String?
    /// The provider tokens that a flow of this service received.
    var grant: ProviderGrant?

    /// The email address, or `nil` if it is not valid for an account.
    var address: Username? { email.flatMap { try? Username($0) } }

    func login(at now: Int64) -> AccountLogin {
        AccountLogin(
            providerId: providerId, subject: subject, email: email, displayName: displayName, photoUrl: photoUrl, linkedAt: now)
    }

    var additionalUserInfo: AdditionalUserInfo {
        AdditionalUserInfo(providerId: providerId, username: username, profile: EncodedObject(profile))
    }

    var tokens: ProviderTokens { ProviderTokens(idToken: idToken, accessToken: accessToken) }
}

extension ProviderIdentity {
    /// Maps the claims of an ID token or the equivalent API response.
    init(_ claims: JSONObject, subject: String, _ idp: IdpRecord) {
        self.init(providerId: idp.providerId, subject: subject)
        profile = claims
        email = claims["email"]?.string.map { Username.fold($0) }.flatMap { $0.isEmpty || $0.utf8.count > 255 ? nil : $0 }
        displayName = claims["name"]?.string.map { String($0.prefix(256)) }
        photoUrl = (claims["picture"]?.string).flatMap { ProviderURL.isForBrowser($0) ? $0 : nil }
        username = claims["screen_name"]?.string ?? claims["login"]?.string ?? claims["preferred_username"]?.string
        // Apple also sends the value as a string.
        let isVerified = claims["email_verified"].map { $0.bool ?? ($0.string == "true") }
        guard let email else { return }
        isEmailTrusted =
            idp.known?.isTrusted(
                email: email, isVerified: isVerified, isManaged: claims["hd"]?.string != nil, isOwnIssuer: idp.hasOwnIssuer)
            ?? (idp.settings.trustEmail && isVerified == true)
    }

    /// Adds the user's name, which Apple sends to the app only at the first authorization.
    func adding(_ user: Credential.User?) -> ProviderIdentity {
        guard let name = user?.name, displayName == nil, providerId == KnownProvider.apple.rawValue else { return self }
        let words = [name.firstName, name.lastName].compactMap { $0 }.filter { !$0.isEmpty }
        var named = self
        if !words.isEmpty { named.displayName = words.joined(separator: " ") }
        return named
    }
}
