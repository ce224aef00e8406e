/// Base64 (RFC 4648 section 4), for data exchanged with other systems. Mintmark's own texts use `Base64URL`.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes `bytes` with padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var output: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let group = Array(rest.prefix(3))
            let bits = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << UInt32(16 - 8 * $1.offset) }
            for place in 0..<4 {
                output.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
            rest = rest.dropFirst(3)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes `text` from another system, in this alphabet or that of section 5, with or without padding. Returns `nil` if it is in
    /// neither.
    public static func decode(_ text: String) -> [UInt8]? {
        var letters = Array(text.utf8)
        while letters.last == UInt8(ascii: "="), text.utf8.count - letters.count < 2 { letters.removeLast() }
        // Padding, if present, must complete a group of four.
        if letters.count != text.utf8.count, text.utf8.count % 4 != 0 { return nil }
        for index in letters.indices {
            if letters[index] == UInt8(ascii: "+") { letters[index] = UInt8(ascii: "-") }
            if letters[index] == UInt8(ascii: "/") { letters[index] = UInt8(ascii: "_") }
        }
        return Base64URL.decode(letters)
    }
}
