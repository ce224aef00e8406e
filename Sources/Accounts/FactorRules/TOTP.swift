import Crypto
import Platform

/// Time-based one-time passwords of authenticator apps (RFC 6238), with the parameters that these apps support: HMAC-SHA-1, six digits, 30
/// seconds.
struct TOTP: Sendable {
    static let digits = 6
    static let periodSeconds: Int64 = 30
    static let algorithm = "SHA1"
    /// The length of the secret in bytes: the output length of SHA-1, as RFC 4226 §4 R6 recommends.
    static let secretCount = 20

    private let secret: SecretBytes

    init(_ secret: SecretBytes) { self.secret = secret }

    /// Returns the time step of a time.
    static func step(at now: Int64) -> Int64 { now / periodSeconds }

    /// Returns the code of a time step (RFC 4226 §5.3).
    func code(of step: Int64) -> String {
        let counter = (0..<8).reversed().map { UInt8(truncatingIfNeeded: step >> (8 * $0)) }
        let mac = HMAC.sha1(key: secret, counter)
        let offset = Int(mac[19] & 0x0F)
        let number = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.utf8.count) + text
    }

    /// The result of verifying a code.
    enum Judgement: Equatable {
        /// The code of this time step.
        case right(step: Int64)
        /// A code of the last accepted time step or an earlier one. Codes are single-use (RFC 6238 §5.2).
        case used
        case wrong
    }

    /// - Parameters:
    ///   - drift: The number of steps by which the clock of the app may deviate.
    ///   - last: The last accepted time step.
    func judge(_ code: String, at now: Int64, drift: Int64, after last: Int64?) -> Judgement {
        let given = Array(code.utf8)
        guard given.count == Self.digits else { return .wrong }
        let present = Self.step(at: now)
        var found: Int64?
        // Compute every step, so that the duration reveals nothing; a nearer step takes precedence.
        for distance in (0...drift).reversed() {
            for step in [present - distance, present + distance] where step >= 0 {
                if constantTimeEquals(Array(self.code(of: step).utf8), given) { found = step }
            }
        }
        guard let found else { return .wrong }
        return last.map { found <= $0 } ?? false ? .used : .right(step: found)
    }

    /// Returns the URI for the app, usually shown as a QR code: `otpauth://totp/<issuer>:<account>`. The period is omitted, because apps
    /// default to 30 seconds.
    static func uri(secret: String, issuer: String, account: String) -> String {
        let (issuer, account) = (PercentEncoding.encode(issuer), PercentEncoding.encode(account))
        return "otpauth://totp/\(issuer):\(account)?secret=\(secret)&issuer=\(issuer)&algorithm=\(algorithm)&digits=\(digits)"
    }
}
