import Crypto
import Network
import Platform

/// Where messages are posted to, and the secrets that the posts are signed with.
///
/// Each post has three headers:
///
/// - `Mintmark-Webhook-Id`: names the message; a repeated one has the same, so a receiver can drop it.
/// - `Mintmark-Webhook-Timestamp`: seconds since 1970. A receiver refuses what is older than a few minutes.
/// - `Mintmark-Webhook-Signature`: `v1=` and the HMAC-SHA-256 of `timestamp.id.body` in lower-case hexadecimal; while a secret is being
///   replaced one for each secret, separated by commas. One that is right is enough.
///
/// The order differs from that of Standard Webhooks (`id.timestamp.body`), therefore the names do too.
public struct WebhookEndpoint: Sendable {
    /// A setting that cannot be used.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// No secret, more than two, or one of fewer bytes than this.
        case secrets(minimumBytes: Int)
        /// What is wrong with the URL.
        case url(String)

        public var isOfSecret: Bool {
            switch self {
            case .secrets: true
            case .url: false
            }
        }

        public var description: String {
            switch self {
            case .url(let flaw): "The webhook URL is not valid: \(flaw). It must have the form https://hooks.example.com/mintmark."
            case .secrets(let bytes): "A webhook requires one secret, or two during a rotation, of at least \(bytes) bytes each."
            }
        }
    }

    public static let minimumSecretBytes = 16

    public let url: String
    public let policy: HTTPPolicy
    private let secrets: [SecretBytes]

    /// - Parameters:
    ///   - url: https, or what `policy` allows.
    ///   - secrets: one, or the new and the old one.
    /// - Throws: what cannot be used.
    public init(url: String, secrets: [SecretBytes], policy: HTTPPolicy = HTTPPolicy()) throws(Refusal) {
        guard (1...2).contains(secrets.count), secrets.allSatisfy({ $0.count >= Self.minimumSecretBytes }) else {
            throw .secrets(minimumBytes: Self.minimumSecretBytes)
        }
        if let flaw = WebhookURL.flaw(in: url, allowsInsecureLoopback: policy.allowsInsecureLoopback) { throw .url(flaw) }
        self.url = url
        self.secrets = secrets
        self.policy = policy
    }

    /// What people see: scheme, host and port. A path or a query may be a secret.
    public var origin: String {
        let slashes = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return String(url[..<slashes] + url[slashes...].prefix { !"/?#".contains($0) })
    }

    /// The header `Mintmark-Webhook-Signature`.
    func signature(of body: [UInt8], id: WebhookId, at timestamp: Int64) -> String {
        let signed = Array("\(timestamp).\(id).".utf8) + body
        return secrets.map { "v1=\(Hex.encode(HMAC.sha256(key: $0, signed)))" }.joined(separator: ",")
    }
}

/// Names a post for ever: letters, digits, `_` and `-`, so that no dot can move what is signed.
public struct WebhookId: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil for a text of other characters, an empty one, and one of more than 64.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d
        }
        guard isAllowed, (1...64).contains(text.utf8.count) else { return nil }
        description = text
    }

    public init(random: some RandomSource) { description = random.uuid() }
}
