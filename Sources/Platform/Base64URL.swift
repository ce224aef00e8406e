/// Base64url without padding (RFC 4648 section 5, RFC 7515 section 2), used for binary data on the wire.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each alphabet byte, or 255 for any other byte.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, byte) in alphabet.enumerated() { table[Int(byte)] = UInt8(value) }
        return table
    }()

    /// Returns the length of `count` bytes when encoded.
    public static func encodedCount(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Encodes `bytes` as text.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var encoded: [UInt8] = []
        append(bytes, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends the encoding of `bytes` to `output`.
    public static func append(_ bytes: some Collection<UInt8>, to output: inout [UInt8]) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { append($0, to: &output) }
        if done == nil { Array(bytes).withUnsafeBufferPointer { append($0, to: &output) } }
    }

    /// Appends the encoding of `bytes` to `output`.
    public static func append(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        let count = encodedCount(bytes.count)
        output.append(contentsOf: repeatElement(0, count: count))
        output.withUnsafeMutableBufferPointer { output in
            let encoded = UnsafeMutableBufferPointer(rebasing: output[start..<start + count])
            alphabet.withUnsafeBufferPointer { write(bytes, to: encoded, $0) }
        }
    }

    private static func write(
        _ bytes: UnsafeBufferPointer<UInt8>, to encoded: UnsafeMutableBufferPointer<UInt8>, _ alphabet: UnsafeBufferPointer<UInt8>
    ) {
        var index = 0
        var place = 0
        while index + 2 < bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            encoded[place] = alphabet[Int(group >> 18)]
            encoded[place + 1] = alphabet[Int(group >> 12 & 63)]
            encoded[place + 2] = alphabet[Int(group >> 6 & 63)]
            encoded[place + 3] = alphabet[Int(group & 63)]
            index += 3
            place += 4
        }
        switch bytes.count - index {
        case 1:
            encoded[place] = alphabet[Int(bytes[index] >> 2)]
            encoded[place + 1] = alphabet[Int(bytes[index] & 3) << 4]
        case 2:
            let group = UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
            encoded[place] = alphabet[Int(group >> 10)]
            encoded[place + 1] = alphabet[Int(group >> 4 & 63)]
            encoded[place + 2] = alphabet[Int(group & 15) << 2]
        default: break
        }
    }

    /// Decodes `text`. Returns `nil` if it contains a byte outside the alphabet or padding, has an impossible length, or has nonzero
    /// trailing bits. Each byte string therefore has exactly one valid encoding.
    public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        // A generic loop over bytes takes 50 ns per byte.
        if let decoded = text.withContiguousStorageIfAvailable({ decode($0) }) { return decoded }
        return Array(text).withUnsafeBufferPointer { decode($0) }
    }

    /// Decodes `text`; see `decode(_:)` for a sequence.
    public static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let groups = text.count / 4
        let rest = text.count % 4
        let size = groups * 3 + max(0, rest - 1)
        var isValid = rest != 1
        let decoded = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            guard isValid else { return }
            isValid = values.withUnsafeBufferPointer { decode(text, to: output, $0) }
            count = isValid ? size : 0
        }
        return isValid ? decoded : nil
    }

    /// - Returns: Whether the text is valid.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var index = 0
        var place = 0
        // 255 for a byte outside the alphabet sets bits that no value has.
        var seen: UInt8 = 0
        while index + 3 < text.count {
            let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
            let (c, d) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
            seen |= a | b | c | d
            output[place] = a << 2 | b >> 4
            output[place + 1] = b << 4 | c >> 2
            output[place + 2] = c << 6 | d
            index += 4
            place += 3
        }
        guard index < text.count else { return seen < 64 }
        let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
        seen |= a | b
        output[place] = a << 2 | b >> 4
        guard index + 2 < text.count else { return seen < 64 && b & 15 == 0 }
        let c = values[Int(text[index + 2])]
        output[place + 1] = b << 4 | c >> 2
        return seen | c < 64 && c & 3 == 0
    }

    /// Decodes `text`; see `decode(_:)` for bytes.
    public static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }
}
