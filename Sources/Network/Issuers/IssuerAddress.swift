import Platform

/// An issuer and the permissions for reaching it. Keys that were fetched with one set of permissions are not used with another.
public struct IssuerAddress: Hashable, Sendable {
    /// The issuer exactly as in `iss`.
    public let issuer: String
    /// The addresses that requests to the issuer can reach.
    public let addresses: AddressPolicy
    /// The URL of the key set, if an administrator has configured it. The discovery document is then not fetched.
    public let keySetURL: String?

    public init(
        _ issuer: String, allowsInsecureLoopback: Bool = false, allowsPrivateNetwork: Bool = false, keySetURL: String? = nil
    ) {
        self.issuer = issuer
        self.keySetURL = keySetURL
        addresses = AddressPolicy(allowsInsecureLoopback: allowsInsecureLoopback, allowsPrivateNetwork: allowsPrivateNetwork)
    }

    /// The URL of the discovery document. A trailing slash of the issuer is removed only here (OpenID Connect Discovery 1.0 section 4.1).
    var discoveryURL: String { (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration" }

    /// The policy for requests to the issuer itself, which an administrator entered.
    var policy: HTTPPolicy { HTTPPolicy(addresses: addresses) }

    /// Returns the policy for an endpoint that the issuer's document names. The issuer's own origin has the issuer's policy. Another origin
    /// on this machine is allowed only if the issuer is on this machine with plain http, or if private networks are allowed.
    public func policy(forNamed url: String) -> HTTPPolicy {
        var policy = policy
        let own = try? HTTPURL(issuer)
        if let own, let named = try? HTTPURL(url), named.hasSameOrigin(as: own) { return policy }
        policy.addresses.allowsInsecureLoopback = addresses.allowsInsecureLoopback && own?.scheme == .http
        return policy
    }
}
