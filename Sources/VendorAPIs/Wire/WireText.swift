/// The constraints of a string in the service model.
struct WireText: Sendable {
    /// The range of the length, in Unicode scalars.
    let length: ClosedRange<Int>
    var pattern: WirePattern?
    /// Whether messages must not contain the value.
    var isSecret = false

    /// Returns the violated constraints, in the wording of the service.
    func breaches(of text: String) -> [String] {
        let count = text.unicodeScalars.count
        var all: [String] = []
        if count > length.upperBound { all.append("Member must have length less than or equal to \(length.upperBound)") }
        if count < length.lowerBound { all.append("Member must have length greater than or equal to \(length.lowerBound)") }
        if let pattern, !pattern.matches(text) { all.append("Member must satisfy regular expression pattern: \(pattern.text)") }
        return all
    }

    /// All constraints, as the service lists them for the elements of a list or map.
    var constraints: String {
        var all = ["Member must have length less than or equal to \(length.upperBound)"]
        if length.lowerBound > 0 { all.append("Member must have length greater than or equal to \(length.lowerBound)") }
        if let pattern { all.append("Member must satisfy regular expression pattern: \(pattern.text)") }
        return "[\(all.joined(separator: ", "))]"
    }
}

/// A pattern of the service model: the text for messages and the check.
struct WirePattern: Sendable {
    let text: String
    let matches: @Sendable (String) -> Bool

    /// Returns a pattern for one or more characters of a class.
    static func some(_ text: String, orNone: Bool = false, _ holds: @escaping @Sendable (Unicode.Scalar) -> Bool) -> WirePattern {
        WirePattern(text: text) { (orNone || !$0.isEmpty) && $0.unicodeScalars.allSatisfy(holds) }
    }

    /// The pattern of IDs such as `REGION:GUID`.
    static let id = WirePattern(text: #"[\w-]+:[0-9a-f-]+"#) { text in
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && parts[0].unicodeScalars.allSatisfy { isWord($0) || $0 == "-" }
            && parts[1].unicodeScalars.allSatisfy { "0"..."9" ~= $0 || "a"..."f" ~= $0 || $0 == "-" }
    }

    static let roleType = WirePattern(text: "(un)?authenticated") { $0 == "authenticated" || $0 == "unauthenticated" }

    /// Returns a pattern for word characters and `others`.
    static func word(_ text: String, and others: String, orNone: Bool = false) -> WirePattern {
        let others = Set(others.unicodeScalars)
        return some(text, orNone: orNone) { isWord($0) || others.contains($0) }
    }

    /// Returns whether the scalar is an ASCII word character, as `\w`.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
