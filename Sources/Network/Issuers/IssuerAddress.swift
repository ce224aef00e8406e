/// An issuer, and how it may be reached. Keys fetched under one set of permissions do not serve another.
public struct IssuerAddress: Hashable, Sendable {
    /// Exactly as in `iss`.
    public let issuer: String
    /// Loopback addresses may be reached, there by plain http too.
    public let allowsInsecureLoopback: Bool
    /// Loopback and private addresses may be reached, by https.
    public let allowsPrivateNetwork: Bool

    public init(_ issuer: String, allowsInsecureLoopback: Bool = false, allowsPrivateNetwork: Bool = false) {
        self.issuer = issuer
        self.allowsInsecureLoopback = allowsInsecureLoopback
        self.allowsPrivateNetwork = allowsPrivateNetwork
    }

    /// Where the issuer describes itself. A slash at its end is left out here, and only here (OpenID Connect Discovery 4.1).
    var discoveryURL: String { (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration" }

    /// What a request to the issuer itself may reach: an administrator typed it.
    var policy: HTTPPolicy { HTTPPolicy(allowsInsecureLoopback: allowsInsecureLoopback, allowsPrivateNetwork: allowsPrivateNetwork) }

    /// What a request to an endpoint that the issuer's document names may reach: the issuer's own origin as the issuer itself, but
    /// another one on this machine only if the issuer is on it by plain http, or private networks are allowed.
    public func policy(forNamed url: String) -> HTTPPolicy {
        var policy = policy
        if !url.hasPrefix(origin + "/") { policy.allowsInsecureLoopback = allowsInsecureLoopback && issuer.hasPrefix("http://") }
        return policy
    }

    /// The issuer up to its path.
    private var origin: String { issuer.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/") }
}
