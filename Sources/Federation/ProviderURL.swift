import Platform

/// The rules for URLs of providers: issuers, endpoints, and what their tokens contain.
package enum ProviderURL {
    /// Returns the URL, or `nil` if it is not the URL of a provider: another scheme, plain HTTP that the policy does not allow, a user name,
    /// other characters, or a query or fragment, which are not allowed (OpenID Connect Core 1.0 §2, `iss`).
    package static func of(_ text: String, _ policy: AddressPolicy) -> HTTPURL? {
        guard let url = endpoint(text, policy), url.query == nil else { return nil }
        return url
    }

    /// The same with a query, which an endpoint can have.
    package static func endpoint(_ text: String, _ policy: AddressPolicy) -> HTTPURL? {
        guard let url = try? HTTPURL(text), url.isPlainASCII, url.userInformation == nil, url.fragment == nil,
            !url.path.contains("@"), policy.admitsScheme(of: url)
        else { return nil }
        return url
    }

    /// The policy for the scheme of a provider.
    package static func policy(allowsPlainLoopback: Bool) -> AddressPolicy { AddressPolicy(allowsInsecureLoopback: allowsPlainLoopback) }

    /// Returns whether a URL is safe to open in a browser, for a page or a picture: `http` or `https`, with a host, and at most 2048 bytes.
    /// Other schemes can start programs or run scripts.
    package static func isForBrowser(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }
        return url.utf8.count <= 2048 && (try? HTTPURL(scheme.lowercased() + url.dropFirst(scheme.count))) != nil
    }

    /// Returns a hint if a URL was rejected because it uses plain HTTP.
    package static func hint(_ url: String) -> String {
        HTTPURL.Scheme(beginning: url) == .http ? " Plain HTTP requires allowInsecure and localhost." : ""
    }
}
