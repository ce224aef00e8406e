/// The built-in providers, which require no issuer in their settings, and their differences.
package enum KnownProvider: String, Sendable, CaseIterable {
    case google = "google.com"
    case apple = "apple.com"
    case facebook = "facebook.com"
    case microsoft = "microsoft.com"
    case github = "github.com"

    /// The values of `iss`, or none if the provider issues no ID tokens. The keys are published by the first one. Google also uses a value
    /// without the scheme. Microsoft's is the issuer of personal accounts; each directory has its own.
    var issuers: [String] {
        switch self {
        case .google: ["https://accounts.google.com", "accounts.google.com"]
        case .apple: ["https://appleid.apple.com"]
        case .facebook: ["https://www.facebook.com"]
        case .microsoft: ["https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"]
        case .github: []
        }
    }

    /// The base URL of the API that verifies access tokens, or `nil` if access tokens are not accepted because their audience cannot be
    /// verified.
    var endpoint: String? {
        switch self {
        case .google: "https://oauth2.googleapis.com"
        case .facebook: "https://graph.facebook.com"
        case .github: "https://api.github.com"
        case .apple, .microsoft: nil
        }
    }

    /// Whether its ID tokens must contain a nonce.
    var needsNonce: Bool { self == .facebook || self == .apple }

    /// Whether the provider sends the user's name only at the first authorization.
    var saysNameOnce: Bool { self == .apple }

    /// The prefixes of Microsoft's issuers. Each cloud contains the directories of its customers.
    static let microsoftClouds = [
        "https://login.microsoftonline.com/", "https://login.microsoftonline.us/", "https://login.partner.microsoftonline.cn/",
    ]

    /// Returns whether the provider's statement about an email address is trusted.
    ///
    /// - Parameters:
    ///   - isVerified: The value of `email_verified`, or `nil` if it is missing. `false` is always trusted.
    ///   - isManaged: Whether the provider manages the domain.
    ///   - isOwnIssuer: Whether the token is from the provider's own issuer. In a Microsoft directory, administrators can set any address.
    func isTrusted(email: String, isVerified: Bool?, isManaged: Bool, isOwnIssuer: Bool) -> Bool {
        let domain = email.split(separator: "@").last.map(String.init) ?? ""
        return switch self {
        case .google: isVerified == true && (domain == "gmail.com" || isManaged)
        case .apple: isVerified != false
        case .microsoft: isOwnIssuer && isVerified != false && (domain == "outlook.com" || domain == "hotmail.com")
        case .facebook, .github: false
        }
    }
}
