import Crypto
import Platform

/// An SMTP submission server (RFC 6409) and its login.
public struct SMTPServer: Sendable {
    /// The encryption of the connection.
    public enum Encryption: String, Hashable, Sendable {
        /// Plain text until STARTTLS, which must succeed before any other command (RFC 3207). Usually port 587.
        case startTLS
        /// TLS from the first byte (RFC 8314). Usually port 465.
        case implicit
        /// No encryption. Allowed only for loopback addresses, regardless of the host name.
        case noneToLoopback
    }

    /// A user name and password, and the mechanisms that can send them to the server.
    public struct Login: Sendable {
        /// The SASL mechanisms that require only a password.
        public enum Mechanism: String, Hashable, Sendable, CaseIterable {
            case plain = "PLAIN"
            case login = "LOGIN"
            case cramMD5 = "CRAM-MD5"
        }

        public var user: String
        public var password: SecretBytes
        /// The allowed mechanisms. The strongest one that the server also supports is used.
        public var mechanisms: Set<Mechanism>

        public init(user: String, password: SecretBytes, mechanisms: Set<Mechanism> = [.plain, .login]) {
            self.user = user
            self.password = password
            self.mechanisms = mechanisms
        }
    }

    /// The reason a setting is not valid.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URL does not have the form `smtp://host[:port]` or `smtps://host[:port]`.
        case url
        /// The host is neither a host name nor an IP address.
        case host
        case port
        /// An address of another machine without encryption.
        case notLoopback
        /// The user name is empty, the user name or password contains a zero byte, or there is no mechanism.
        case login
        /// The name for EHLO is not a host name.
        case greetingName

        public var description: String {
            switch self {
            case .url:
                "The URL of the mail server is not valid. Use smtp://mail.example.com:587 (STARTTLS) or smtps://mail.example.com:465 (TLS), without user name and password."
            case .host: "The host of the mail server is neither a host name nor an IP address."
            case .port: "The port of the mail server is not between 1 and 65535."
            case .notLoopback:
                "Unencrypted connections are allowed only to loopback addresses. Use STARTTLS or TLS for this host."
            case .login:
                "The user name and password of the mail server cannot be sent: they are empty or contain a zero byte, or no mechanism is allowed."
            case .greetingName: "The name for EHLO is not a host name."
            }
        }
    }

    /// A name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    public let port: Int
    public let encryption: Encryption
    public let login: Login?
    /// The name for EHLO. Defaults to the domain of the envelope sender, so that the name of this machine is not revealed.
    public let greetingName: String?

    /// - Throws: The setting that is not valid.
    public init(
        host: String, port: Int? = nil, encryption: Encryption = .startTLS, login: Login? = nil, greetingName: String? = nil
    ) throws(Refusal) {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed ? NetworkAddress(host)?.bytes.count == 16 : Self.isName(host) else { throw .host }
        if encryption == .noneToLoopback, let address = NetworkAddress(host), address.reach != .loopback { throw .notLoopback }
        let port = port ?? (encryption == .implicit ? 465 : 587)
        guard (1...65535).contains(port) else { throw .port }
        if let login {
            let hasZero = login.user.utf8.contains(0) || login.password.withUnsafeBytes { $0.contains(0) }
            guard !login.user.isEmpty, !hasZero, !login.mechanisms.isEmpty else { throw .login }
        }
        guard greetingName.map(Self.isName) ?? true else { throw .greetingName }
        (self.host, self.port, self.encryption, self.login, self.greetingName) = (host, port, encryption, login, greetingName)
    }

    /// Parses `smtp://host[:port]` (STARTTLS) or `smtps://host[:port]` (TLS from the first byte).
    ///
    /// - Parameter isUnencrypted: Whether to use `smtp` without STARTTLS, which is allowed only for loopback.
    public init(url: String, isUnencrypted: Bool = false, login: Login? = nil, greetingName: String? = nil) throws(Refusal) {
        let encryption: Encryption
        var rest: Substring
        if url.hasPrefix("smtp://") {
            (encryption, rest) = (isUnencrypted ? .noneToLoopback : .startTLS, url.dropFirst(7))
        } else if url.hasPrefix("smtps://"), !isUnencrypted {
            (encryption, rest) = (.implicit, url.dropFirst(8))
        } else {
            throw .url
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.contains(where: { "/@?#".contains($0) }) else { throw .url }
        var port: Int?
        if let colon = rest.lastIndex(of: ":"), !rest.hasSuffix("]") {
            let digits = rest[rest.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else { throw .port }
            (port, rest) = (number, rest[..<colon])
        }
        try self.init(host: String(rest), port: port, encryption: encryption, login: login, greetingName: greetingName)
    }

    /// The displayed address: scheme, host and port.
    public var origin: String { "\(encryption == .implicit ? "smtps" : "smtp")://\(host):\(port)" }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= 253
            && Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy(isHostLabel)
    }
}
