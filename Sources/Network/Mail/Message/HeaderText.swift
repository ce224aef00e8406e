import Platform

/// Encoded header fields: ASCII, folded between words (RFC 5322 section 2.2.3), with other characters in encoded words (RFC 2047).
struct HeaderText {
    private(set) var bytes: [UInt8] = []

    /// Adds a field of words that are already encoded. Folds the line before a word that would make it longer than 78 bytes.
    mutating func add(_ name: String, _ words: [String]) {
        var line = "\(name):"
        for word in words {
            // The first word stays in the line of the field name, because some parsers treat a line without content as the end of the
            // header.
            if line.utf8.count + 1 + word.utf8.count > 78, line.utf8.count > name.utf8.count + 1 {
                bytes += Array(line.utf8) + crlf
                line = ""
            }
            line += " " + word
        }
        bytes += Array(line.utf8) + crlf
    }

    /// Adds an unstructured text field, such as the subject.
    mutating func add(_ name: String, text: String) {
        let text = Self.inOneLine(text)
        if text.isEmpty { return add(name, []) }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let isPlain = isASCII(text) && !text.includes("=?") && words.allSatisfy { (1...60).contains($0.utf8.count) }
        add(name, isPlain ? words.map(String.init) : Self.encodedWords(text))
    }

    /// Adds a field with a name and an address (RFC 5322 section 3.4).
    mutating func add(_ name: String, mailbox: Mailbox) {
        let shown = Self.inOneLine(mailbox.name ?? "")
        if shown.isEmpty { return add(name, [mailbox.address.description]) }
        let quoted = "\"" + shown.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        let isPlain = isASCII(shown) && !shown.includes("=?") && quoted.utf8.count <= 60
        add(name, (isPlain ? [quoted] : Self.encodedWords(shown)) + ["<\(mailbox.address)>"])
    }

    /// Replaces each control character, including line breaks, with a space, and removes white space at both ends.
    static func inOneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let breaks = scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
            line.append(breaks ? " " : scalar)
        }
        return trimmed(String(line))
    }

    /// Returns encoded words of at most 60 characters. No encoded word ends within a character.
    private static func encodedWords(_ text: String) -> [String] {
        var words: [String] = []
        var piece: [UInt8] = []
        for scalar in text.unicodeScalars {
            let character = Array(String(scalar).utf8)
            if piece.count + character.count > 36 {
                words.append("=?utf-8?B?\(Base64.encode(piece))?=")
                piece = []
            }
            piece += character
        }
        return words + ["=?utf-8?B?\(Base64.encode(piece))?="]
    }
}

private func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
