/// The providers that need no issuer, and what is particular about each (firebase.md 1.6, 2.5.2, 5.5).
package enum KnownProvider: String, Sendable, CaseIterable {
    case google = "google.com"
    case apple = "apple.com"
    case facebook = "facebook.com"
    case microsoft = "microsoft.com"
    case github = "github.com"

    /// What stands in `iss`, the first of them being where the keys are found; none if it has no ID tokens. Google's tokens also say it
    /// without the scheme. Microsoft's is that of personal accounts, each directory having its own.
    var issuers: [String] {
        switch self {
        case .google: ["https://accounts.google.com", "accounts.google.com"]
        case .apple: ["https://appleid.apple.com"]
        case .facebook: ["https://www.facebook.com"]
        case .microsoft: ["https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"]
        case .github: []
        }
    }

    /// Where it is asked about access tokens, nil if it takes none: of those nobody could tell for whom they were made.
    var endpoint: String? {
        switch self {
        case .google: "https://oauth2.googleapis.com"
        case .facebook: "https://graph.facebook.com"
        case .github: "https://api.github.com"
        case .apple, .microsoft: nil
        }
    }

    /// Whether its ID tokens are taken with a nonce only.
    var needsNonce: Bool { self == .facebook || self == .apple }

    /// Whether it tells an app the name once, and never again (firebase.md 2.5.2, 8.47).
    var saysNameOnce: Bool { self == .apple }

    /// Where the issuers of a provider are that has several: Microsoft's clouds, each with the directories of its customers.
    static let microsoftClouds = [
        "https://login.microsoftonline.com/", "https://login.microsoftonline.us/", "https://login.partner.microsoftonline.cn/",
    ]

    /// Whether it is believed that an address is the person's own (firebase.md 5.5).
    ///
    /// - Parameters:
    ///   - isVerified: what it says of the address itself, nil for nothing. Where it says no, it is believed.
    ///   - isManaged: whether it manages the domain.
    ///   - isOwnIssuer: whether its own issuer says so, not one of many. In a directory of Microsoft the address is whatever its
    ///     administrators have written.
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
