import Contract

/// What may stand in the keys and values of tags: letters, digits, spaces and `_ . : / = + - @` (cognito.md 1.1, 6.6). The schema
/// leaves out what ASCII has besides; here is said which of the other characters are letters and digits.
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

/// Free labels on a pool or a role, beyond what the schema says of them (cognito.md 1.1).
package enum ResourceTags {
    /// Whatever cannot be kept, and where it stands below `pointer`.
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
