/// Base64 as others write it (RFC 4648 sections 4 and 5): either alphabet, with padding or without.
public enum Base64 {
    /// Decodes `text`, or answers nil when it is neither.
    public static func decode(_ text: String) -> [UInt8]? {
        var letters = Array(text.utf8)
        while letters.last == UInt8(ascii: "="), text.utf8.count - letters.count < 2 { letters.removeLast() }
        // Padding, where there is any, fills up a group of four.
        if letters.count != text.utf8.count, text.utf8.count % 4 != 0 { return nil }
        for index in letters.indices {
            if letters[index] == UInt8(ascii: "+") { letters[index] = UInt8(ascii: "-") }
            if letters[index] == UInt8(ascii: "/") { letters[index] = UInt8(ascii: "_") }
        }
        return Base64URL.decode(letters)
    }
}
