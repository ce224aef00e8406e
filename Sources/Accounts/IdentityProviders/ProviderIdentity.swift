import Contract
import Federation
import JSON

/// Who somebody is at a provider, as it was proven (firebase.md 2.5.4 step 1, 3.6).
struct ProviderIdentity: Sendable, Equatable {
    let providerId: String
    let subject: String
    /// In lower case.
    var email: String?
    /// Whether the provider is believed when it says whose the address is (firebase.md 5.5).
    var isEmailTrusted = false
    var displayName: String?
    var photoUrl: String?
    /// The name that the provider calls them by.
    var username: String?
    /// All that the provider has said.
    var profile = JSONObject()
    var idToken: String?
    var accessToken: String?
    /// What a flow of this service brought for later.
    var grant: ProviderGrant?

    /// The address, if it is one that an account can have.
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
    /// Maps the claims of an ID token, or what stands in for them (firebase.md 3.6).
    init(_ claims: JSONObject, subject: String, _ idp: IdpRecord) {
        self.init(providerId: idp.providerId, subject: subject)
        profile = claims
        email = claims["email"]?.string.map { Username.fold($0) }.flatMap { $0.isEmpty || $0.utf8.count > 255 ? nil : $0 }
        displayName = claims["name"]?.string.map { String($0.prefix(256)) }
        photoUrl = (claims["picture"]?.string).flatMap { ProviderURL.isForBrowser($0) ? $0 : nil }
        username = claims["screen_name"]?.string ?? claims["login"]?.string ?? claims["preferred_username"]?.string
        // Apple writes it as a string too.
        let isVerified = claims["email_verified"].map { $0.bool ?? ($0.string == "true") }
        guard let email else { return }
        isEmailTrusted =
            idp.known?.isTrusted(
                email: email, isVerified: isVerified, isManaged: claims["hd"]?.string != nil, isOwnIssuer: idp.hasOwnIssuer)
            ?? (idp.settings.trustEmail && isVerified == true)
    }

    /// Adds what Apple tells an app of the person, once (firebase.md 2.5.2).
    func adding(_ user: Credential.User?) -> ProviderIdentity {
        guard let name = user?.name, displayName == nil, providerId == KnownProvider.apple.rawValue else { return self }
        let words = [name.firstName, name.lastName].compactMap { $0 }.filter { !$0.isEmpty }
        var named = self
        if !words.isEmpty { named.displayName = words.joined(separator: " ") }
        return named
    }
}
