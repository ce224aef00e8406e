import Contract
import Crypto
import Federation
import JSON
import Platform

/// The rules for the settings of an identity provider that the schema does not express.
enum IdpRules {
    /// - Parameters:
    ///   - hasSecret: Whether a client secret is given or already stored.
    ///   - allowsPlainLoopback: Whether plain HTTP to a loopback address is allowed without `allowInsecure`.
    /// - Throws: `InvalidIdp`.
    static func check(_ settings: IdpCreate.Params, hasSecret: Bool, allowsPlainLoopback: Bool) throws {
        let known = KnownProvider(rawValue: settings.providerId)
        let policy = ProviderURL.policy(allowsPlainLoopback: settings.allowInsecure || allowsPlainLoopback)
        try checkIssuer(settings, known, policy)
        try checkEndpoint(settings, known, policy)
        let responseType = settings.responseType ?? .code
        if known == .github, responseType == .idToken {
            throw InvalidIdp(pointer: "/responseType", reason: "github.com has no ID tokens; use code")
        }
        if !hasSecret, let way = settings.clientAuthentication, way != .none {
            throw InvalidIdp(
                pointer: "/clientSecret", reason: "clientAuthentication \(way.rawValue) needs the client secret; a public client has none")
        }
        if known == .github, !hasSecret, settings.clientAuthentication == nil {
            throw InvalidIdp(
                pointer: "/clientSecret", reason: "github.com has no public clients: it needs the client secret for codes and tokens")
        }
        if settings.openidOnly, known == .github || known == .facebook {
            throw InvalidIdp(
                pointer: "/openidOnly", reason: "\(settings.providerId) does not know the scope openid; it is for OpenID Connect providers")
        }
        if settings.requiredAcr?.isEmpty == false || settings.maxAuthAgeSeconds != nil, known == .github || known == .facebook {
            throw InvalidIdp(
                pointer: settings.maxAuthAgeSeconds == nil ? "/requiredAcr" : "/maxAuthAgeSeconds",
                reason: "\(settings.providerId) does not tell how users signed in; the setting is for OpenID Connect providers")
        }
        if settings.trustEmail, known != nil {
            throw InvalidIdp(
                pointer: "/trustEmail",
                reason: "the trusted addresses of \(settings.providerId) are fixed; the setting is only for oidc. providers")
        }
        for (index, key) in (settings.keys ?? []).enumerated() {
            do { _ = try PublicKey(jwk: try JSONText(JSONValue.object(key).text).root) } catch {
                throw InvalidIdp(pointer: "/keys/\(index)", reason: "the key cannot be used: \(error)")
            }
        }
        if settings.keys != nil, known == .github {
            throw InvalidIdp(pointer: "/keys", reason: "github.com has no ID tokens and therefore no keys")
        }
    }

    private static func checkIssuer(_ settings: IdpCreate.Params, _ known: KnownProvider?, _ policy: AddressPolicy) throws {
        switch (known, settings.issuer) {
        case (nil, nil): throw InvalidIdp(pointer: "/issuer", reason: "an oidc. provider requires an issuer")
        case (nil, let issuer?), (.microsoft, let issuer?):
            if DiscoveryURL.isDocument(issuer) { throw DiscoveryURL.documentRefused(issuer, named: nil) }
            guard let url = ProviderURL.of(issuer, policy) else {
                throw InvalidIdp(
                    pointer: "/issuer",
                    reason: "the issuer must be an https URL without query and fragment\(sentence(ProviderURL.hint(issuer)))")
            }
            // In tests, a server on a loopback address can replace Microsoft.
            if known == .microsoft, url.scheme == .https, !KnownProvider.microsoftClouds.contains(where: issuer.hasPrefix) {
                throw InvalidIdp(
                    pointer: "/issuer",
                    reason:
                        "the issuer of microsoft.com must begin with \(KnownProvider.microsoftClouds[0]); use an oidc. provider for any other issuer"
                )
            }
        case (let known?, _?): throw InvalidIdp(pointer: "/issuer", reason: "the issuer of \(known.rawValue) is fixed; omit it")
        case (_?, nil): break
        }
    }

    private static func checkEndpoint(_ settings: IdpCreate.Params, _ known: KnownProvider?, _ policy: AddressPolicy) throws {
        guard let endpoint = settings.endpoint else { return }
        guard known?.endpoint != nil else {
            throw InvalidIdp(
                pointer: "/endpoint", reason: "it is only for providers of access tokens: google.com, facebook.com, github.com"
            )
        }
        guard ProviderURL.of(endpoint, policy) != nil, !endpoint.hasSuffix("/") else {
            throw InvalidIdp(
                pointer: "/endpoint",
                reason:
                    "it must be an https URL without query, fragment and trailing slash\(sentence(ProviderURL.hint(endpoint)))")
        }
    }

    /// Returns the hint as a further sentence, without its final period.
    private static func sentence(_ hint: String) -> String { hint.isEmpty ? "" : "." + hint.dropLast() }
}
