import Crypto
import Platform
import ServiceContext
import WebAuthn

/// Invents the passkeys of addresses without passkeys, so that the options do not show which addresses have an account (WebAuthn Level 3
/// section 14.6.2). They are the same at every request.
struct PasskeyDecoys: Sendable {
    private let key: SecretBytes

    /// Lengths and transports of credentials of common authenticators.
    private static let shapes: [(count: Int, transports: [String])] = [
        (16, ["hybrid", "internal"]), (20, ["hybrid", "internal"]), (32, ["internal"]), (48, ["nfc", "usb"]), (64, ["usb"]),
    ]

    init(_ context: AccountsContext) { key = context.seededKey("passkey decoy") ?? context.vault.subkey("passkey decoy") }

    func passkeys(of address: String, in tenantId: String) -> [PasskeyOptions.Descriptor] {
        let seed = bytes("count", address, tenantId)
        return (0...(Int(seed[0]) % 2)).map { number in
            let shape = Self.shapes[Int(seed[number + 1]) % Self.shapes.count]
            let id = bytes("id \(number) a", address, tenantId) + bytes("id \(number) b", address, tenantId)
            return PasskeyOptions.Descriptor(id: Base64URL.encode(id.prefix(shape.count)), transports: shape.transports)
        }
    }

    private func bytes(_ use: String, _ address: String, _ tenantId: String) -> [UInt8] {
        HMAC.sha256(key: key, Array("\(use)\u{0}\(tenantId)\u{0}\(address)".utf8))
    }

    /// A key with which the signatures for invented passkeys are checked, for the same work. The result is ignored.
    static let credential: StoredCredential = {
        // The key of the vector none-es256 of WebAuthn Level 3 section 16.1.
        let cose = Hex.decode(
            "a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820"
                + "930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220")!
        return StoredCredential(key: try! CredentialKey(cose: cose), counter: 0, backupEligible: false)
    }()
}
