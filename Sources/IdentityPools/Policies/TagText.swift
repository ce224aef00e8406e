import Contract

/// The characters of tag keys and values: letters, digits, spaces and `_ . : / = + - @`. The schema excludes the other ASCII characters;
/// this type decides which characters beyond ASCII are letters and digits.
enum TagText {
    static func isAllowed(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isAllowed) }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII, " _.:/=+-@".unicodeScalars.contains(scalar) { return true }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: return true
        default: return false
        }
    }
}

/// Validates the tags of a pool or role with the rules that the schema does not express.
package enum ResourceTags {
    /// Returns the violations, with locations below `pointer`.
    package static func violations(_ tags: Members<String>?, at pointer: String) -> [Violation] {
        var found: [Violation] = []
        for tag in tags ?? [:] {
            let place = pointer + PolicyReader.pointer([tag.name])
            if tag.name.hasPrefix("aws:") {
                found.append(Violation(pointer: place, rule: "propertyNames", message: "Keys that begin with aws: are reserved."))
            } else if !TagText.isAllowed(tag.name) {
                found.append(Violation(pointer: place, rule: "propertyNames", message: "The key of a tag can contain only \(characters)."))
            }
            if !TagText.isAllowed(tag.value) {
                found.append(Violation(pointer: place, rule: "pattern", message: "The value of a tag can contain only \(characters)."))
            }
        }
        return found
    }

    /// - Throws: `InvalidParams`.
    static func check(_ tags: Members<String>?) throws {
        let violations = violations(tags, at: "/tags")
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }

    private static let characters = "letters, digits, spaces and _ . : / = + - @"
}
