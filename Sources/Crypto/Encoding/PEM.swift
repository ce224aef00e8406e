import COpenSSL

/// The PEM format (RFC 7468).
public enum PEM {
    /// Encodes DER bytes between a BEGIN and an END line.
    public static func encode(_ der: [UInt8], label: String) -> String {
        var encoded = [UInt8](repeating: 0, count: (der.count + 2) / 3 * 4 + 1)
        let count = Int(EVP_EncodeBlock(&encoded, der, Int32(der.count)))
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: count, by: 64) {
            text += String(decoding: encoded[start..<min(start + 64, count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
