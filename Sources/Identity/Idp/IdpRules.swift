import Contract
import Crypto
import JSON

/// What the settings of an identity provider must keep to beyond their schema (firebase.md 1.6).
enum IdpRules {
    /// - Parameters:
    ///   - hasSecret: whether there is a client secret, now or from before.
    ///   - allowsPlainLoopback: whether plain http to this machine needs no `allowInsecure`.
    /// - Throws: `InvalidIdp`.
    static func check(_ settings: IdpCreate.Params, hasSecret: Bool, allowsPlainLoopback: Bool) throws {
        let known = KnownProvider(rawValue: settings.providerId)
        let scheme = settings.allowInsecure || allowsPlainLoopback ? ProviderURL.httpsOrPlainLoopback : .https
        try checkIssuer(settings, known, scheme)
        try checkEndpoint(settings, known, scheme)
        let responseType = settings.responseType ?? IdpRecord.responseType(of: settings.providerId)
        if known == .github, responseType == .idToken {
            throw InvalidIdp(pointer: "/responseType", reason: "github.com has no ID tokens; code is what it sends")
        }
        if responseType == .code, !hasSecret, settings.clientAuthentication != ClientAuthentication.none {
            throw InvalidIdp(
                pointer: "/clientSecret",
                reason: "a code is redeemed with the client secret, so it is needed, unless clientAuthentication is none")
        }
        if settings.trustEmail, known != nil {
            throw InvalidIdp(
                pointer: "/trustEmail", reason: "which addresses of \(settings.providerId) are trusted is fixed; it is for oidc. providers")
        }
        for (index, key) in (settings.keys ?? []).enumerated() {
            do { _ = try PublicKey(jwk: try JSONText(JSONValue.object(key).text).root) } catch {
                throw InvalidIdp(pointer: "/keys/\(index)", reason: "it cannot be used: \(error)")
            }
        }
        if settings.keys != nil, known == .github {
            throw InvalidIdp(pointer: "/keys", reason: "github.com has no ID tokens, so no keys either")
        }
    }

    private static func checkIssuer(_ settings: IdpCreate.Params, _ known: KnownProvider?, _ scheme: ProviderURL) throws {
        switch (known, settings.issuer) {
        case (nil, nil): throw InvalidIdp(pointer: "/issuer", reason: "an oidc. provider is known by its issuer, so it is needed")
        case (nil, let issuer?), (.microsoft, let issuer?):
            guard scheme.rest(of: issuer) != nil else {
                throw InvalidIdp(
                    pointer: "/issuer",
                    reason: "an issuer is an https URL with neither query nor fragment\(sentence(ProviderURL.hint(issuer)))")
            }
            // What is on this machine by plain http stands in for it in tests.
            if known == .microsoft, issuer.hasPrefix("https://"), !KnownProvider.microsoftClouds.contains(where: issuer.hasPrefix) {
                throw InvalidIdp(
                    pointer: "/issuer",
                    reason: "an issuer of microsoft.com begins with \(KnownProvider.microsoftClouds[0]); any other is an oidc. provider")
            }
        case (let known?, _?): throw InvalidIdp(pointer: "/issuer", reason: "the issuer of \(known.rawValue) is fixed; leave it out")
        case (_?, nil): break
        }
    }

    private static func checkEndpoint(_ settings: IdpCreate.Params, _ known: KnownProvider?, _ scheme: ProviderURL) throws {
        guard let endpoint = settings.endpoint else { return }
        guard known?.endpoint != nil else {
            throw InvalidIdp(
                pointer: "/endpoint", reason: "it is for providers that are asked about access tokens: google.com, facebook.com, github.com"
            )
        }
        guard scheme.rest(of: endpoint) != nil, !endpoint.hasSuffix("/") else {
            throw InvalidIdp(
                pointer: "/endpoint",
                reason:
                    "it is an https URL with neither query nor fragment nor a slash at its end\(sentence(ProviderURL.hint(endpoint)))")
        }
    }

    /// A further sentence, without the full stop at its end.
    private static func sentence(_ hint: String) -> String { hint.isEmpty ? "" : "." + hint.dropLast() }
}
