/// What no value of an attribute has in it, since it would change how everything around it is shown.
package enum AttributeText {
    /// Line ends in what is one line, and control characters and overrides of the direction of writing (Unicode UAX 9) anywhere. What
    /// joins emoji and letters is none of them.
    package static func hasControls(_ text: String, isOneLine: Bool) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x0A, 0x0D, 0x09, 0x2028, 0x2029: isOneLine
            case 0x202A...0x202E, 0x2066...0x2069: true
            default: scalar.properties.generalCategory == .control
            }
        }
    }

    /// Whether there is nothing in it that anybody sees.
    static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0.properties.generalCategory == .format }
    }
}
