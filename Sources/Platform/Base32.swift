/// Base32 without padding (RFC 4648 section 6), used for access key IDs and TOTP secrets.
public enum Base32 {
    private static let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 8 + 4) / 5) { text in
            var held: UInt32 = 0
            var (bits, count) = (0, 0)
            func append(_ value: UInt32) {
                text.initializeElement(at: count, to: digits.utf8Start[Int(value & 31)])
                count += 1
            }
            for byte in bytes {
                held = held << 8 | UInt32(byte)
                bits += 8
                while bits >= 5 {
                    bits -= 5
                    append(held >> UInt32(bits))
                }
            }
            if bits > 0 { append(held << UInt32(5 - bits)) }
            return count
        }
    }

    /// Decodes `text`, with or without padding. Returns `nil` if it contains characters other than uppercase letters and the digits 2 to 7.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 5 / 8)
        var held: UInt32 = 0
        var bits = 0
        var letters = text.utf8[...]
        while letters.last == UInt8(ascii: "=") { letters.removeLast() }
        for letter in letters {
            guard let value = value(of: letter) else { return nil }
            held = held << 5 | value
            bits += 5
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
        }
        return bytes
    }

    private static func value(of letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(letter - UInt8(ascii: "2")) + 26
        default: nil
        }
    }
}
