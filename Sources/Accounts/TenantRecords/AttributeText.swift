/// Detects characters that attribute values must not contain because they change how the surrounding text is displayed.
package enum AttributeText {
    /// Returns whether a text contains control characters, bidirectional embeddings, overrides or isolates (Unicode UAX #9), or, if it is a
    /// single line, line ends or tabs. Joiners in emoji and letters are allowed.
    package static func hasControls(_ text: String, isOneLine: Bool) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x0A, 0x0D, 0x09, 0x2028, 0x2029: isOneLine
            case 0x202A...0x202E, 0x2066...0x2069: true
            default: scalar.properties.generalCategory == .control
            }
        }
    }

    /// Returns whether a text has no visible character.
    static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0.properties.generalCategory == .format }
    }
}
