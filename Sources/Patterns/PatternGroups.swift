/// Groups: `(…)`, `(?:…)`, `(?<name>…)`, `(?i)`, `(?i:…)`.
extension PatternParser {
    /// Parses a group after its `(`, which is at `start`. Returns `nil` for a group that only sets flags.
    mutating func group(from start: Int) throws(PatternRefusal) -> PatternNode? {
        let outer = flags
        if take("*") { throw unsupported("a control verb", from: start) }
        if take("?") {
            let kind = current
            position += kind == nil ? 0 : 1
            switch kind {
            case ":": break
            case "|", "'", "<", "P":
                if kind != "|" { try groupName(kind, from: start) }
                try beyondPortable("a group of this kind", from: start)
            default:
                if let name = unsupportedGroup(kind) { throw unsupported(name, from: start) }
                position -= kind == nil ? 0 : 1
                guard try !setsFlagsOnly(from: start) else { return nil }
            }
        }
        let node = try alternatives()
        guard take(")") else { throw malformed("the group is not closed", at: start) }
        flags = outer
        return node
    }

    /// Returns the name of an unsupported group, whose first scalar after `(?` is `kind`.
    private mutating func unsupportedGroup(_ kind: Unicode.Scalar?) -> String? {
        switch kind {
        case "=", "!", "*": return "a lookahead"
        case ">": return "an atomic group"
        case "(": return "a condition"
        case "C": return "a callout"
        case "R", "&": return "a recursion"
        case let digit? where Self.isDigit(digit): return "a recursion"
        case "+", "-":
            guard let next = current, Self.isDigit(next) else { return nil }
            position += 1
            return "a recursion"
        default: return nil
        }
    }

    /// Parses the name of a group after `(?<`, `(?'` or `(?P`.
    private mutating func groupName(_ kind: Unicode.Scalar?, from start: Int) throws(PatternRefusal) {
        if kind == "P" {
            if take("=") { throw unsupported("a backreference", from: start) }
            if take(">") { throw unsupported("a recursion", from: start) }
            guard take("<") else { throw malformed("`(?P` is not followed by `<`") }
        } else if kind == "<", current == "=" || current == "!" {
            position += 1
            throw unsupported("a lookbehind", from: start)
        }
        let nameStart = position
        let name = takeWhile { $0 == "_" || Self.isDigit($0) || $0.properties.generalCategory.isLetter }
        guard let first = name.unicodeScalars.first, !Self.isDigit(first), name.unicodeScalars.count <= 32 else {
            throw malformed("the name of a group must have 1 to 32 letters, digits and `_`, and not begin with a digit", at: nameStart)
        }
        guard take(kind == "'" ? "'" : ">") else { throw malformed("the name of the group is not closed") }
        guard groupNames.insert(name).inserted || allowsDuplicateNames else {
            throw malformed("another group has the name `\(name)`", at: nameStart)
        }
    }

    /// Parses flags after `(?` up to `:` or `)`. Returns whether they are for the rest of the enclosing group.
    private mutating func setsFlagsOnly(from start: Int) throws(PatternRefusal) -> Bool {
        var value = true
        if take("^") { flags = Flags() }
        while let scalar = current {
            position += 1
            switch scalar {
            case ":", ")":
                try beyondPortable("a group with flags", from: start)
                return scalar == ")"
            case "-" where value: value = false
            case "i": flags.ignoresCase = value
            case "s": flags.dotMatchesLineFeed = value
            case "m": flags.isMultiline = value
            case "x":
                let isTwice = take("x")
                flags.ignoresSpace = value
                flags.ignoresSpaceInClasses = value && isTwice
            case "J": allowsDuplicateNames = value
            // Whether groups capture and which match is preferred does not matter.
            case "n", "U": break
            default: throw malformed("`\(scalar)` is not a flag", at: position - 1)
            }
        }
        throw malformed("the group is not closed", at: start)
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isLetter: Bool {
        switch self {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }
}
