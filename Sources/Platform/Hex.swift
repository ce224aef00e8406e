/// Hexadecimal text (RFC 4648 section 8), encoded in lowercase.
public enum Hex {
    /// Encodes each byte as two lowercase digits.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        let known = bytes.withContiguousStorageIfAvailable { text(of: UnsafeRawBufferPointer($0)) }
        return known ?? Array(bytes).withUnsafeBytes { text(of: $0) }
    }

    private static func text(of bytes: UnsafeRawBufferPointer) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (place, byte) in bytes.enumerated() {
                text[place * 2] = digits.utf8Start[Int(byte >> 4)]
                text[place * 2 + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }

    /// Decodes `text` in either case. Returns `nil` if it is not an even number of hexadecimal digits.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
