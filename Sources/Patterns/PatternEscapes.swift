/// Escapes: `\d`, `\p{L}`, `\x{e9}`, `\b` and others.
extension PatternParser {
    /// An escape that can be a member of a class.
    enum Member {
        case scalar(UInt32)
        case ranges([ClosedRange<UInt32>])
        case categories(UInt32)
    }

    static let wordRanges: [ClosedRange<UInt32>] = [48...57, 65...90, 95...95, 97...122]
    static let digitRanges: [ClosedRange<UInt32>] = [48...57]
    static let spaceRanges: [ClosedRange<UInt32>] = [9...13, 32...32]
    private static let horizontalSpaceRanges: [ClosedRange<UInt32>] = [
        9...9, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x180E...0x180E, 0x2000...0x200A, 0x202F...0x202F, 0x205F...0x205F,
        0x3000...0x3000,
    ]
    private static let verticalSpaceRanges: [ClosedRange<UInt32>] = [10...13, 0x85...0x85, 0x2028...0x2029]

    /// Parses an escape outside of a class.
    mutating func escaped() throws(PatternRefusal) -> PatternNode {
        let start = position
        position += 1
        guard let scalar = current else { throw malformed("the pattern ends after a backslash", at: start) }
        position += 1
        let assertion: PatternAssertion? =
            switch scalar {
            case "A", "G": .textStart
            case "z": .textEnd
            case "Z": .lastLineEnd
            case "b": .wordBoundary
            case "B": .noWordBoundary
            default: nil
            }
        if let assertion {
            try beyondPortable("a condition on the position", from: start)
            return .assertion(assertion)
        }
        switch scalar {
        case "1"..."9":
            _ = takeWhile(Self.isDigit)
            throw unsupported("a backreference", from: start)
        case "k": throw unsupported("a backreference", from: start)
        case "g":
            let isRecursion = current == "<" || current == "'"
            throw unsupported(isRecursion ? "a recursion" : "a backreference", from: start)
        case "K": throw unsupported("a change of the start", from: start)
        case "R": throw unsupported("a line end of several characters", from: start)
        case "X": throw unsupported("a grapheme cluster", from: start)
        case "C": throw unsupported("a single byte", from: start)
        case "N" where !isAt("{U+"):
            try beyondPortable("an escape of this kind", from: start)
            var set = ScalarSet()
            set.insert(fixed: ScalarSet.inverted([10...10]))
            return .set(index(of: set))
        default: break
        }
        position = start
        let member = try escapedMember()
        if case .scalar(let scalar) = member { return literal(scalar) }
        var set = ScalarSet()
        set.insert(member)
        set.normalize()
        return .set(index(of: set))
    }

    /// Parses an escape that means the same inside and outside of a class.
    mutating func escapedMember() throws(PatternRefusal) -> Member {
        let start = position
        position += 1
        guard let scalar = current else { throw malformed("the pattern ends after a backslash", at: start) }
        position += 1
        if dialect == .portable, !Self.isPortable(scalar) { throw unsupported("an escape of this kind", from: start) }
        switch scalar {
        case "d": return .ranges(Self.digitRanges)
        case "D": return .ranges(ScalarSet.inverted(Self.digitRanges))
        case "w": return .ranges(Self.wordRanges)
        case "W": return .ranges(ScalarSet.inverted(Self.wordRanges))
        case "s": return .ranges(Self.spaceRanges)
        case "S": return .ranges(ScalarSet.inverted(Self.spaceRanges))
        case "h": return .ranges(Self.horizontalSpaceRanges)
        case "H": return .ranges(ScalarSet.inverted(Self.horizontalSpaceRanges))
        case "v": return .ranges(Self.verticalSpaceRanges)
        case "V": return .ranges(ScalarSet.inverted(Self.verticalSpaceRanges))
        case "p", "P": return .categories(try property(from: start, isInverted: scalar == "P"))
        default: return .scalar(try escapedScalar(scalar, from: start))
        }
    }

    private static func isPortable(_ scalar: Unicode.Scalar) -> Bool {
        "wWdDsStnrx".unicodeScalars.contains(scalar) || (scalar.isASCII && !isLetterOrDigit(scalar))
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }

    private mutating func escapedScalar(_ scalar: Unicode.Scalar, from start: Int) throws(PatternRefusal) -> UInt32 {
        switch scalar {
        case "a": return 7
        case "e": return 27
        case "f": return 12
        case "n": return 10
        case "r": return 13
        case "t": return 9
        case "c":
            guard let control = current, 32...126 ~= control.value else { throw malformed("`\\c` needs a printable ASCII character") }
            position += 1
            return ("a"..."z" ~= control ? control.value - 32 : control.value) ^ 64
        case "0":
            position -= 1
            return try number(takeDigits(3, radix: 8), radix: 8, from: start)
        case "o":
            guard take("{") else { throw malformed("`\\o` is not followed by `{`") }
            return try closedNumber(radix: 8, from: start)
        case "x":
            if dialect == .full, take("{") { return try closedNumber(radix: 16, from: start) }
            let digits = takeDigits(2, radix: 16)
            if dialect == .portable, digits.count < 2 || digits.first! > "7" { throw unsupported("an escape beyond ASCII", from: start) }
            return digits.isEmpty ? 0 : try number(digits, radix: 16, from: start)
        case "N" where take("{U+"): return try closedNumber(radix: 16, from: start)
        default:
            guard !Self.isLetterOrDigit(scalar) else { throw malformed("`\\\(scalar)` is unknown", at: start) }
            return scalar.value
        }
    }

    private mutating func takeDigits(_ most: Int, radix: Int) -> String {
        let end = position + most
        var digits = ""
        while position < end, let scalar = current, Int(String(scalar), radix: radix) != nil {
            digits.unicodeScalars.append(scalar)
            position += 1
        }
        return digits
    }

    private mutating func closedNumber(radix: Int, from start: Int) throws(PatternRefusal) -> UInt32 {
        let digits = takeDigits(Pattern.maximumBytes, radix: radix)
        guard take("}") else { throw malformed("the number of the character is not closed", at: start) }
        return try number(digits, radix: radix, from: start)
    }

    private func number(_ digits: String, radix: Int, from start: Int) throws(PatternRefusal) -> UInt32 {
        guard let value = UInt32(digits, radix: radix), Unicode.Scalar(value) != nil else {
            throw malformed("the number is not that of a Unicode character", at: start)
        }
        return value
    }

    /// Parses the name of a property after `\p` or `\P`, which is at `start`.
    private mutating func property(from start: Int, isInverted: Bool) throws(PatternRefusal) -> UInt32 {
        var isInverted = isInverted
        let name: String
        if take("{") {
            if take("^") { isInverted.toggle() }
            name = takeWhile { $0 != "}" }
            guard take("}") else { throw malformed("the name of the property is not closed", at: start) }
        } else {
            guard let letter = current else { throw malformed("the name of the property is missing", at: start) }
            position += 1
            name = String(letter)
        }
        guard let categories = GeneralCategories.bits(named: name) else {
            throw unsupported("a Unicode property that is not a general category", from: start)
        }
        return isInverted ? GeneralCategories.all & ~categories : categories
    }
}

extension ScalarSet {
    /// Adds a member of a class.
    mutating func insert(_ member: PatternParser.Member) {
        switch member {
        case .scalar(let scalar): insert(scalar...scalar)
        case .ranges(let ranges): insert(fixed: ranges)
        case .categories(let bits): categories |= bits
        }
    }
}
