import Crypto
import Platform

/// One-time passwords that an authenticator app computes from a shared secret and the time (RFC 6238), as all of those apps do it:
/// HMAC-SHA-1, six digits, a new one every 30 seconds.
struct TOTP: Sendable {
    static let digits = 6
    static let periodSeconds: Int64 = 30
    static let algorithm = "SHA1"
    /// As many bytes as SHA-1 gives (RFC 4226 section 4, R6).
    static let secretCount = 20

    private let secret: SecretBytes

    init(_ secret: SecretBytes) { self.secret = secret }

    /// What the time is counted in.
    static func step(at now: Int64) -> Int64 { now / periodSeconds }

    /// The password of one step (RFC 4226 section 5.3).
    func code(of step: Int64) -> String {
        let counter = (0..<8).reversed().map { UInt8(truncatingIfNeeded: step >> (8 * $0)) }
        let mac = HMAC.sha1(key: secret, counter)
        let offset = Int(mac[19] & 0x0F)
        let number = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.utf8.count) + text
    }

    /// What a code came to.
    enum Judgement: Equatable {
        /// It is the one of this step.
        case right(step: Int64)
        /// It is the one of a step of which, or after which, one was accepted: nobody says it twice (RFC 6238 section 5.2).
        case used
        case wrong
    }

    /// - Parameters:
    ///   - drift: by how many steps the clock of the app may be ahead or behind.
    ///   - last: the step that was accepted last.
    func judge(_ code: String, at now: Int64, drift: Int64, after last: Int64?) -> Judgement {
        let given = Array(code.utf8)
        guard given.count == Self.digits else { return .wrong }
        let present = Self.step(at: now)
        var found: Int64?
        // Every step is looked at, nearest last, so that the time says nothing.
        for distance in (0...drift).reversed() {
            for step in [present - distance, present + distance] where step >= 0 {
                if constantTimeEquals(Array(self.code(of: step).utf8), given) { found = step }
            }
        }
        guard let found else { return .wrong }
        return last.map { found <= $0 } ?? false ? .used : .right(step: found)
    }

    /// What is shown to the app, mostly as a QR code: `otpauth://totp/<issuer>:<account>`.
    ///
    /// - Source: firebase.md 6.2, which leaves the period out: 30 seconds is what apps take without it.
    static func uri(secret: String, issuer: String, account: String) -> String {
        let (issuer, account) = (PercentEncoding.encode(issuer), PercentEncoding.encode(account))
        return "otpauth://totp/\(issuer):\(account)?secret=\(secret)&issuer=\(issuer)&algorithm=\(algorithm)&digits=\(digits)"
    }
}
