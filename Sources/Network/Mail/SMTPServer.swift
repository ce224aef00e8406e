import Crypto

/// A server that takes mail for delivery (message submission, RFC 6409), and how to log in to it.
public struct SMTPServer: Sendable {
    /// How the connection is encrypted.
    public enum Encryption: String, Hashable, Sendable {
        /// Plain until STARTTLS, which must succeed before anything else is said (RFC 3207). Usually port 587.
        case startTLS
        /// TLS from the first byte (RFC 8314). Usually port 465.
        case implicit
        /// None. Only to loopback addresses, whatever the host is called.
        case noneToLoopback
    }

    /// A user and password, and the ways in which they may be shown to the server.
    public struct Login: Sendable {
        /// The SASL mechanisms that need no more than a password.
        public enum Mechanism: String, Hashable, Sendable, CaseIterable {
            case plain = "PLAIN"
            case login = "LOGIN"
            case cramMD5 = "CRAM-MD5"
        }

        public var user: String
        public var password: SecretBytes
        /// Of those that the server offers too, the strongest is used.
        public var mechanisms: Set<Mechanism>

        public init(user: String, password: SecretBytes, mechanisms: Set<Mechanism> = [.plain, .login]) {
            self.user = user
            self.password = password
            self.mechanisms = mechanisms
        }
    }

    /// A setting that cannot be used.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not `smtp://host[:port]` or `smtps://host[:port]`.
        case url
        /// No host name; the text is the host.
        case host
        case port
        /// An address of another machine, where nothing is encrypted.
        case notLoopback
        /// A user or password with a zero byte, a user that is empty, or no mechanism.
        case login
        /// The name to say in EHLO is no host name.
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
    /// The name to say in EHLO; nil says the domain of the envelope's sender, so that this machine's name does not travel.
    public let greetingName: String?

    /// - Throws: what cannot be used.
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

    /// Reads `smtp://host[:port]` (STARTTLS) or `smtps://host[:port]` (TLS from the first byte).
    ///
    /// - Parameter isUnencrypted: `smtp` without STARTTLS, for loopback alone.
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

    /// What people see: scheme, host and port.
    public var origin: String { "\(encryption == .implicit ? "smtps" : "smtp")://\(host):\(port)" }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= 253
            && Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy(isHostLabel)
    }
}
