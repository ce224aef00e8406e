/// A string in a policy, parsed into characters, wildcards and variables.
struct PolicyText: Hashable, Sendable {
    enum Piece: Hashable, Sendable {
        case character(Unicode.Scalar)
        /// The wildcard `*`, which matches any number of characters.
        case anyRun
        /// The wildcard `?`, which matches one character.
        case anyOne
        /// A variable: `${key}` or `${key, 'default'}`.
        case variable(String, default: String?)
    }

    let pieces: [Piece]
    /// Whether the text contains neither wildcards nor variables.
    let isLiteral: Bool
    private let hasVariables: Bool

    /// - Parameter variables: Whether `${…}` is a variable, as in version 2012-10-17 of the policy language.
    /// - Throws: `PolicyMalformed` if a variable is not closed, has no name, or has a default without quotes.
    init(_ text: String, wildcards: Bool, variables: Bool, _ pointer: String) throws {
        var pieces: [Piece] = []
        var rest = Array(text.unicodeScalars)[...]
        while let first = rest.first {
            if variables, first == "$", rest.dropFirst().first == "{" {
                guard let end = rest.firstIndex(of: "}") else {
                    throw PolicyMalformed(pointer: pointer, reason: "a variable ${ is not closed with }")
                }
                var name = String.UnicodeScalarView()
                name.append(contentsOf: rest[(rest.startIndex + 2)..<end])
                pieces.append(try Self.piece(String(name), pointer))
                rest = rest[(end + 1)...]
                continue
            }
            switch first {
            case "*" where wildcards: pieces.append(.anyRun)
            case "?" where wildcards: pieces.append(.anyOne)
            default: pieces.append(.character(first))
            }
            rest = rest.dropFirst()
        }
        self.pieces = pieces
        isLiteral = pieces.allSatisfy { if case .character = $0 { true } else { false } }
        hasVariables = pieces.contains { if case .variable = $0 { true } else { false } }
    }

    /// The text as written in the policy, except the quotation of wildcards.
    var text: String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .character(let scalar): text.unicodeScalars.append(scalar)
            case .anyRun: text += "*"
            case .anyOne: text += "?"
            case .variable(let name, let fallback): text += fallback.map { "${\(name), '\($0)'}" } ?? "${\(name)}"
            }
        }
        return text
    }

    /// The length of the longest run of hexadecimal digits after the last colon, not counting hyphens. 0 if the text contains a variable or
    /// no colon.
    var hexDigitsAfterColon: Int {
        guard let colon = pieces.lastIndex(of: .character(":")) else { return 0 }
        var (run, longest) = (0, 0)
        for piece in pieces {
            if case .variable = piece { return 0 }
        }
        for piece in pieces[colon...] {
            switch piece {
            case .character(let scalar) where scalar.properties.isASCIIHexDigit: run += 1
            case .character("-"): break
            default: run = 0
            }
            longest = max(longest, run)
        }
        return longest
    }

    private static func piece(_ text: String, _ pointer: String) throws -> Piece {
        if ["*", "?", "$"].contains(text) { return .character(text.unicodeScalars.first!) }
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
        guard !parts[0].isEmpty else { throw PolicyMalformed(pointer: pointer, reason: "a variable ${} has no name") }
        guard parts.count == 2 else { return .variable(parts[0], default: nil) }
        guard parts[1].utf8.count >= 2, parts[1].hasPrefix("'"), parts[1].hasSuffix("'") else {
            throw PolicyMalformed(pointer: pointer, reason: "the default of the variable ${\(parts[0])} must be in single quotes")
        }
        return .variable(parts[0], default: String(parts[1].dropFirst().dropLast()))
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Returns whether `value` matches this text in `context`.
    ///
    /// If a variable has no single value, the text does not match. Wildcards in the value of a variable are literal characters, so that a
    /// request cannot extend a policy.
    func matches(_ value: String, in context: PolicyContext, ignoringCase: Bool = false) -> Bool {
        if isLiteral {
            var scalars = value.unicodeScalars.makeIterator()
            for piece in pieces {
                guard let scalar = scalars.next(), Self.accepts(piece, scalar, ignoringCase) else { return false }
            }
            return scalars.next() == nil
        }
        guard let pattern = hasVariables ? resolved(in: context) : pieces else { return false }
        return Self.match(pattern, Array(value.unicodeScalars), ignoringCase)
    }

    /// Returns whether a piece other than a variable matches one character.
    private static func accepts(_ piece: Piece, _ scalar: Unicode.Scalar, _ ignoringCase: Bool) -> Bool {
        switch piece {
        case .character(let own): own == scalar || ignoringCase && folded(own) == folded(scalar)
        case .anyOne: true
        case .anyRun, .variable: false
        }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII { return "A"..."Z" ~= scalar ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first! : scalar
    }

    private func resolved(in context: PolicyContext) -> [Piece]? {
        var pattern: [Piece] = []
        for piece in pieces {
            guard case .variable(let name, let fallback) = piece else {
                pattern.append(piece)
                continue
            }
            switch context[name] {
            case .single(let value): pattern += value.unicodeScalars.map { .character($0) }
            case .many: return nil
            case nil:
                guard let fallback else { return nil }
                pattern += fallback.unicodeScalars.map { .character($0) }
            }
        }
        return pattern
    }

    /// Matches wildcards. Backtracks only to the last `*`, so the number of steps is at most the product of both lengths.
    private static func match(_ pattern: [Piece], _ text: [Unicode.Scalar], _ ignoringCase: Bool) -> Bool {
        var at = 0
        var position = 0
        var lastRun: (pattern: Int, text: Int)?
        while position < text.count {
            if at < pattern.count, case .anyRun = pattern[at] {
                lastRun = (at, position)
                at += 1
            } else if at < pattern.count, accepts(pattern[at], text[position], ignoringCase) {
                at += 1
                position += 1
            } else if let run = lastRun {
                lastRun = (run.pattern, run.text + 1)
                at = run.pattern + 1
                position = run.text + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { if case .anyRun = $0 { true } else { false } }
    }
}
