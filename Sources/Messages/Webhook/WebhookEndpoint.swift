import Crypto
import Network
import Platform

/// The URL to which messages are posted, and the secrets that sign the posts.
///
/// Each post has three headers:
///
/// - `Mintmark-Webhook-Id`: The ID of the message. A repeated post has the same ID, so the receiver can ignore it.
/// - `Mintmark-Webhook-Timestamp`: The time in seconds since 1970. A receiver rejects posts that are older than a few minutes.
/// - `Mintmark-Webhook-Signature`: `v1=` and the HMAC-SHA-256 of `timestamp.id.body` in lower-case hexadecimal. During a rotation of the
///   secret, there is one signature for each secret, separated by commas. One valid signature is sufficient.
///
/// The order differs from that of Standard Webhooks (`id.timestamp.body`); therefore the header names also differ.
public struct WebhookEndpoint: Sendable {
    /// The reason a setting is not valid.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no secret, there are more than two, or one is shorter than this.
        case secrets(minimumBytes: Int)
        /// The problem with the URL.
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
    ///   - url: An https URL, or any URL that `policy` allows.
    ///   - secrets: One secret, or the new and the previous one.
    /// - Throws: The setting that is not valid.
    public init(url: String, secrets: [SecretBytes], policy: HTTPPolicy = HTTPPolicy()) throws(Refusal) {
        guard (1...2).contains(secrets.count), secrets.allSatisfy({ $0.count >= Self.minimumSecretBytes }) else {
            throw .secrets(minimumBytes: Self.minimumSecretBytes)
        }
        if let flaw = WebhookURL.flaw(in: url, allowsInsecureLoopback: policy.addresses.allowsInsecureLoopback) { throw .url(flaw) }
        self.url = url
        self.secrets = secrets
        self.policy = policy
    }

    /// The displayed address: scheme, host and port. A path or a query may be a secret.
    public var origin: String { (try? HTTPURL(url))?.origin ?? "" }

    /// Returns the header `Mintmark-Webhook-Signature`.
    func signature(of body: [UInt8], id: WebhookId, at timestamp: Int64) -> String {
        let signed = Array("\(timestamp).\(id).".utf8) + body
        return secrets.map { "v1=\(Hex.encode(HMAC.sha256(key: $0, signed)))" }.joined(separator: ",")
    }
}

/// The unique ID of a post. It consists of letters, digits, `_` and `-`, so that a dot cannot shift the boundaries of the signed text.
public struct WebhookId: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Returns `nil` if the text is empty, is longer than 64 bytes or contains other characters.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d
        }
        guard isAllowed, (1...64).contains(text.utf8.count) else { return nil }
        description = text
    }

    public init(random: some RandomSource) { description = random.uuid() }
}
