/// Base32 without padding (RFC 4648 section 6), used for access key IDs and TOTP secrets.
public enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        var held: UInt32 = 0
        var bits = 0
        for byte in bytes {
            held = held << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(held >> UInt32(bits) & 31)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(held << UInt32(5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes `text`, with or without padding. Returns `nil` if it contains characters other than uppercase letters and the digits 2 to 7.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var held: UInt32 = 0
        var bits = 0
        var letters = text.utf8[...]
        while letters.last == UInt8(ascii: "=") { letters.removeLast() }
        for letter in letters {
            guard let value = alphabet.firstIndex(of: letter) else { return nil }
            held = held << 5 | UInt32(value)
            bits += 5
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
        }
        return bytes
    }
}
