/// What is sent, and within which limits.
public struct HTTPRequest: Sendable {
    /// The methods an identity service needs of others.
    public enum Method: String, Sendable { case GET, POST }

    public var method: Method
    /// An absolute URL without user and password.
    public var url: String
    /// Names and values, in order. Neither may hold a line end.
    public var headers: [(name: String, value: String)]
    /// The body of a POST; nil sends an empty one.
    public var body: [UInt8]?
    public var policy: HTTPPolicy
    /// Asked about once a second while the answer is awaited; true ends the request with `cancelled`.
    public var isCancelled: @Sendable () -> Bool

    public init(
        _ method: Method = .GET, url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        policy: HTTPPolicy = HTTPPolicy(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.policy = policy
        self.isCancelled = isCancelled
    }
}

/// What a request may reach and cost. Without changes: https to public addresses, 1 MiB, 10 s.
public struct HTTPPolicy: Hashable, Sendable {
    /// Loopback addresses may be reached, there by plain http too. For testing stores and providers with `allowInsecure`.
    public var allowsInsecureLoopback: Bool
    /// Loopback and private addresses may be reached, by https. Only for what an administrator typed.
    public var allowsPrivateNetwork: Bool
    /// The longest body that is accepted, in bytes.
    public var maximumBytes: Int
    /// Whether a longer body is cut off there instead of refused: for whom the status says all.
    public var cutsBody = false
    /// How long all of it may take, redirects included.
    public var timeoutMilliseconds: Int
    /// How many redirects of a GET are followed. Each must stay at the same scheme, host and port.
    public var maximumRedirects: Int

    public init(
        allowsInsecureLoopback: Bool = false, allowsPrivateNetwork: Bool = false, maximumBytes: Int = 1 << 20,
        timeoutMilliseconds: Int = 10_000, maximumRedirects: Int = 3
    ) {
        self.allowsInsecureLoopback = allowsInsecureLoopback
        self.allowsPrivateNetwork = allowsPrivateNetwork
        self.maximumBytes = maximumBytes
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumRedirects = maximumRedirects
    }

    /// The longest headers that are accepted, in bytes.
    static let maximumHeaderBytes = 64 * 1024

    /// Whether a connection to this address may be opened for a URL of this scheme.
    func admits(_ address: NetworkAddress, scheme: String) -> Bool {
        switch address.reach {
        case .loopback: allowsInsecureLoopback || (allowsPrivateNetwork && scheme == "https")
        case .privateNetwork: allowsPrivateNetwork && scheme == "https"
        case .everyone: scheme == "https"
        case .nobody: false
        }
    }
}
