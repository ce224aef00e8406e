import Platform

/// An HTTP request and its limits.
public struct HTTPRequest: Sendable {
    /// The methods that an identity service needs for its requests.
    public enum Method: String, Sendable { case GET, POST }

    public var method: Method
    /// An absolute URL without user name and password.
    public var url: String
    /// Names and values, in order. They must not contain line breaks.
    public var headers: [(name: String, value: String)]
    /// The body of a POST; `nil` sends an empty body.
    public var body: [UInt8]?
    public var policy: HTTPPolicy
    /// Called about once a second during the request; `true` ends the request with `cancelled`.
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

/// The addresses that a request can reach, and its limits. By default: https to public addresses, 1 MiB, 10 seconds.
public struct HTTPPolicy: Hashable, Sendable {
    public var addresses: AddressPolicy
    /// The maximum length of the body, in bytes.
    public var maximumBytes: Int
    /// Whether a longer body is truncated instead of rejected. Useful if only the status of the response matters.
    public var cutsBody = false
    /// The time limit for the whole request, including redirects.
    public var timeoutMilliseconds: Int
    /// The maximum number of redirects of a GET. Each must have the same scheme, host and port.
    public var maximumRedirects: Int

    public init(
        allowsInsecureLoopback: Bool = false, allowsPrivateNetwork: Bool = false, maximumBytes: Int = 1 << 20,
        timeoutMilliseconds: Int = 10_000, maximumRedirects: Int = 3
    ) {
        addresses = AddressPolicy(allowsInsecureLoopback: allowsInsecureLoopback, allowsPrivateNetwork: allowsPrivateNetwork)
        self.maximumBytes = maximumBytes
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumRedirects = maximumRedirects
    }

    public init(addresses: AddressPolicy) {
        self.init(allowsInsecureLoopback: addresses.allowsInsecureLoopback, allowsPrivateNetwork: addresses.allowsPrivateNetwork)
    }

    /// The maximum length of the headers, in bytes.
    static let maximumHeaderBytes = 64 * 1024
}
