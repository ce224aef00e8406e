/// An absolute URL with the scheme `http` or `https` (RFC 3986), split once.
///
/// A check of a URL is a check of this type. `RequestURL` of the module Network parses it again with the library that connects, and applies
/// the same `AddressPolicy`, because two parsers could disagree.
public struct HTTPURL: Hashable, Sendable {
    public enum Scheme: String, Sendable {
        case http, https

        /// Returns the scheme with which a text begins.
        public init?(beginning text: String) {
            guard let scheme: Scheme = text.hasPrefix("https://") ? .https : text.hasPrefix("http://") ? .http : nil else { return nil }
            self = scheme
        }

        var defaultPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// The reason a text is not such a URL.
    public enum Flaw: Error {
        case scheme
        /// Spaces or control characters.
        case characters
        case host
        case port
    }

    /// The URL as it was given.
    public let text: String
    public let scheme: Scheme
    /// A user name or password before the host.
    public let userInformation: String?
    /// A name, an IPv4 address, or an IPv6 address in brackets, as it was given.
    public let host: String
    /// The port, if it was given.
    public let port: UInt16?
    /// The path with its leading slash, or an empty string.
    public let path: String
    /// The text after `?`.
    public let query: String?
    /// The text after `#`.
    public let fragment: String?

    /// - Parameter text: The scheme must be in lower case, because issuers are compared as text.
    public init(_ text: String) throws(Flaw) {
        guard let scheme = Scheme(beginning: text) else { throw .scheme }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else { throw .characters }
        self.text = text
        self.scheme = scheme
        let rest = text.dropFirst(scheme.rawValue.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }
        let at = authority.lastIndex(of: "@")
        userInformation = at.map { String(authority[..<$0]) }
        let address = at.map { authority[authority.index(after: $0)...] } ?? authority
        let isBracketed = address.hasPrefix("[")
        let host = isBracketed ? address.prefix { $0 != "]" } + (address.contains("]") ? "]" : "") : address.prefix { $0 != ":" }
        guard isBracketed ? host.hasSuffix("]") && host.count > 2 : !host.isEmpty && host.utf8.allSatisfy(Self.isHostByte) else {
            throw .host
        }
        self.host = String(host)
        let port = address.dropFirst(host.count)
        self.port = port.isEmpty ? nil : UInt16(port.dropFirst())
        guard port.isEmpty || port.first == ":" && self.port.map({ $0 > 0 }) ?? false && port.dropFirst().first != "+" else { throw .port }
        let tail = rest[authority.endIndex...]
        let beforeFragment = tail.prefix { $0 != "#" }
        fragment = beforeFragment.endIndex < tail.endIndex ? String(tail[beforeFragment.endIndex...].dropFirst()) : nil
        let path = beforeFragment.prefix { $0 != "?" }
        self.path = String(path)
        query = path.endIndex < beforeFragment.endIndex ? String(beforeFragment[path.endIndex...].dropFirst()) : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || "-._".utf8.contains(byte)
    }

    /// The scheme, host and port, without a path or a query, which may be a secret.
    public var origin: String { "\(scheme.rawValue)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// The URL without its scheme, as the name of an issuer.
    public var withoutScheme: Substring { text.dropFirst(scheme.rawValue.count + 3) }

    /// The port to which a request goes.
    public var effectivePort: UInt16 { port ?? scheme.defaultPort }

    /// Whether two URLs have the same scheme, host and port (RFC 6454).
    public func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && effectivePort == other.effectivePort && host.lowercased() == other.host.lowercased()
    }

    /// Whether the host is this machine (RFC 6761 section 6.3), regardless of name resolution.
    public var isLoopback: Bool { Self.isLoopback(host: host) }

    public static func isLoopback(host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") || NetworkAddress(host)?.reach == .loopback
    }

    /// Whether the URL consists of the characters of RFC 3986 only, without those that other programs treat specially.
    public var isPlainASCII: Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\\\"<>^`{|}".utf8.contains($0) } }
}

/// The addresses that requests to a URL can reach. By default, public addresses with https.
public struct AddressPolicy: Hashable, Sendable {
    /// Whether loopback addresses are allowed, also with plain http.
    public var allowsInsecureLoopback: Bool
    /// Whether loopback and private addresses are allowed, with https. Must be used only for URLs that an administrator entered.
    public var allowsPrivateNetwork: Bool

    public init(allowsInsecureLoopback: Bool = false, allowsPrivateNetwork: Bool = false) {
        self.allowsInsecureLoopback = allowsInsecureLoopback
        self.allowsPrivateNetwork = allowsPrivateNetwork
    }

    /// Returns whether the scheme is allowed for the host of a URL. Addresses are checked when a request is sent.
    public func admitsScheme(of url: HTTPURL) -> Bool { admits(scheme: url.scheme, isLoopback: url.isLoopback) }

    public func admits(scheme: HTTPURL.Scheme, isLoopback: Bool) -> Bool { scheme == .https || allowsInsecureLoopback && isLoopback }

    /// Returns whether a name of this machine is allowed.
    public var admitsLoopbackNames: Bool { allowsInsecureLoopback || allowsPrivateNetwork }

    /// Returns whether a connection to the address is allowed for a URL of this scheme.
    public func admits(_ address: NetworkAddress, scheme: HTTPURL.Scheme) -> Bool {
        switch address.reach {
        case .loopback: allowsInsecureLoopback || (allowsPrivateNetwork && scheme == .https)
        case .privateNetwork: allowsPrivateNetwork && scheme == .https
        case .everyone: scheme == .https
        case .nobody: false
        }
    }
}
