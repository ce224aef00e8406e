/// Classes: `[a-z]`, `[^\d\p{L}]`, `[[:alpha:]]`.
extension PatternParser {
    mutating func letterClass() throws(PatternRefusal) -> ScalarSet {
        let start = position
        position += 1
        if let name = ["[:<:]]", "[:>:]]"].first(where: isAt) {
            position += name.unicodeScalars.count
            throw unsupported("a boundary of this kind", from: start)
        }
        var set = ScalarSet()
        set.isInverted = take("^")
        set.ignoresCase = flags.ignoresCase
        var isFirst = true
        while true {
            try skipIgnoredInClass()
            guard let scalar = current else { throw malformed("the class is not closed", at: start) }
            if scalar == "]", !isQuoted {
                guard isFirst else { break }
                position += 1
                try beyondPortable("a bracket without a backslash", from: position - 1)
                position -= 1
            }
            isFirst = false
            try item(of: &set)
        }
        position += 1
        set.normalize()
        return set
    }

    private mutating func skipIgnoredInClass() throws(PatternRefusal) {
        while let scalar = current {
            if try takeQuotationMark() { continue }
            guard !isQuoted, flags.ignoresSpaceInClasses, scalar == " " || scalar == "\t" else { return }
            position += 1
        }
    }

    /// Parses a member, or a range of them.
    private mutating func item(of set: inout ScalarSet) throws(PatternRefusal) {
        let start = position
        let first = try member()
        try skipIgnoredInClass()
        let hyphen = position
        guard !isQuoted, take("-") else { return set.insert(first) }
        try skipIgnoredInClass()
        guard let next = current else { return set.insert(first) }
        if next == "]", !isQuoted {
            // A hyphen at the end is a member.
            position = hyphen
            return set.insert(first)
        }
        guard case .scalar(let low) = first, case .scalar(let high) = try member() else {
            throw malformed("a range begins or ends with a class", at: start)
        }
        guard low <= high else { throw malformed("the ends of the range are not in ascending order", at: start) }
        set.insert(low...high)
    }

    private mutating func member() throws(PatternRefusal) -> Member {
        let start = position
        let scalar = scalars[position]
        if isQuoted {
            position += 1
            return .scalar(scalar.value)
        }
        if scalar == "[", let member = try namedClass() { return member }
        guard scalar == "\\" else {
            position += 1
            return .scalar(scalar.value)
        }
        guard position + 1 < scalars.count else { throw malformed("the pattern ends after a backslash") }
        switch scalars[position + 1] {
        case "b":
            position += 2
            try beyondPortable("an escape of this kind", from: start)
            return .scalar(8)
        case "0"..."7" where dialect == .full:
            position += 1
            return .scalar(try octal(from: start))
        default: return try escapedMember()
        }
    }

    private mutating func octal(from start: Int) throws(PatternRefusal) -> UInt32 {
        let end = position + 3
        var value: UInt32 = 0
        while position < end, let scalar = current, "0"..."7" ~= scalar {
            value = value * 8 + (scalar.value - 48)
            position += 1
        }
        return value
    }

    /// Parses `[:name:]` or `[:^name:]`, if it follows.
    private mutating func namedClass() throws(PatternRefusal) -> Member? {
        let start = position
        guard position + 1 < scalars.count, ":.=".unicodeScalars.contains(scalars[position + 1]) else { return nil }
        let mark = scalars[position + 1]
        position += 2
        let name = takeWhile { $0 == "^" || $0.isASCII && $0.properties.isAlphabetic }
        guard take("\(mark)]") else {
            position = start
            return nil
        }
        try beyondPortable("a named class", from: start)
        guard mark == ":" else { throw unsupported("a collating element", from: start) }
        let isInverted = name.hasPrefix("^")
        guard let ranges = ranges(named: isInverted ? String(name.dropFirst()) : name) else {
            throw malformed("`\(text(from: start))` is unknown", at: start)
        }
        return .ranges(isInverted ? ScalarSet.inverted(ranges) : ranges)
    }

    private func ranges(named name: String) -> [ClosedRange<UInt32>]? {
        switch name {
        case "lower" where !flags.ignoresCase: [97...122]
        case "upper" where !flags.ignoresCase: [65...90]
        case "alpha", "lower", "upper": [65...90, 97...122]
        case "alnum": [48...57, 65...90, 97...122]
        case "ascii": [0...127]
        case "blank": [9...9, 32...32]
        case "cntrl": [0...31, 127...127]
        case "digit": [48...57]
        case "graph": [33...126]
        case "print": [32...126]
        case "punct": [33...47, 58...64, 91...96, 123...126]
        case "space": Self.spaceRanges
        case "word": Self.wordRanges
        case "xdigit": [48...57, 65...70, 97...102]
        default: nil
        }
    }
}
