/// Parses patterns: alternatives, sequences and quantifiers. The extensions parse groups, escapes and classes.
struct PatternParser {
    /// The options that `(?i)` and similar groups set.
    struct Flags {
        var ignoresCase = false
        var dotMatchesLineFeed = false
        var isMultiline = false
        var ignoresSpace = false
        var ignoresSpaceInClasses = false
    }

    let scalars: [Unicode.Scalar]
    let dialect: PatternDialect
    var position = 0
    var flags = Flags()
    var allowsDuplicateNames = false
    private(set) var sets: [ScalarSet] = []
    private var indices: [ScalarSet: Int] = [:]
    var groupNames: Set<String> = []
    /// Whether the position is between `\Q` and `\E`.
    var isQuoted = false
    private var depth = 0

    /// The maximum depth of groups.
    static let maximumDepth = 50

    init(_ pattern: String, _ dialect: PatternDialect) {
        scalars = Array(pattern.unicodeScalars)
        self.dialect = dialect
    }

    mutating func whole() throws(PatternRefusal) -> PatternNode {
        let node = try alternatives()
        guard current == nil else { throw malformed("`)` has no matching `(`") }
        return node
    }

    // MARK: Scalars

    var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        position += 1
        return true
    }

    /// Returns whether `text` follows.
    func isAt(_ text: String) -> Bool { scalars[position...].starts(with: text.unicodeScalars) }

    mutating func take(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        position += text.unicodeScalars.count
        return true
    }

    /// Consumes scalars as long as `condition` holds, and returns them.
    mutating func takeWhile(_ condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = current, condition(scalar) { position += 1 }
        return text(from: start)
    }

    /// Returns the pattern from `start` to the current position.
    func text(from start: Int) -> String { String(String.UnicodeScalarView(scalars[start..<position])) }

    // MARK: Errors

    func malformed(_ reason: String, at position: Int? = nil) -> PatternRefusal {
        .malformed(position: position ?? self.position, reason: reason)
    }

    /// Returns the refusal of the construct from `start` to the current position.
    func unsupported(_ name: String, from start: Int) -> PatternRefusal {
        .unsupported(position: start, construct: text(from: start), name: name)
    }

    /// Refuses the construct from `start` to the current position if the dialect is portable.
    func beyondPortable(_ name: String, from start: Int) throws(PatternRefusal) {
        if dialect == .portable { throw unsupported(name, from: start) }
    }

    // MARK: Structure

    mutating func alternatives() throws(PatternRefusal) -> PatternNode {
        var all = [try sequence()]
        while take("|") { all.append(try sequence()) }
        return all.count == 1 ? all[0] : .either(all)
    }

    private mutating func sequence() throws(PatternRefusal) -> PatternNode {
        var all: [PatternNode] = []
        while true {
            try skipIgnored()
            guard let scalar = current, isQuoted || (scalar != "|" && scalar != ")") else { return .sequence(all) }
            if let node = try quantified() { all.append(node) }
        }
    }

    /// Skips marks of quotation, comments and, if the flag is set, spaces.
    private mutating func skipIgnored() throws(PatternRefusal) {
        while let scalar = current {
            let start = position
            if try takeQuotationMark() { continue }
            if isQuoted { return }
            if take("(?#") {
                try beyondPortable("a comment", from: start)
                _ = takeWhile { $0 != ")" }
                guard take(")") else { throw malformed("the comment is not closed", at: start) }
            } else if flags.ignoresSpace, Self.isSpace(scalar) {
                position += 1
            } else if flags.ignoresSpace, scalar == "#" {
                _ = takeWhile { $0 != "\n" }
            } else {
                return
            }
        }
    }

    /// Consumes `\Q` or `\E`, if it follows.
    mutating func takeQuotationMark() throws(PatternRefusal) -> Bool {
        let start = position
        if take("\\E") {
            isQuoted = false
        } else if !isQuoted, take("\\Q") {
            isQuoted = true
        } else {
            return false
        }
        try beyondPortable("a quotation", from: start)
        return true
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 9...13, 32, 0x85, 0x200E, 0x200F, 0x2028, 0x2029: true
        default: false
        }
    }

    // MARK: Quantifiers

    /// Parses an atom and its quantifier. Returns `nil` for a group that only sets flags.
    private mutating func quantified() throws(PatternRefusal) -> PatternNode? {
        guard var node = try atom() else { return nil }
        let isRepeatable = if case .assertion = node { false } else { true }
        try skipIgnored()
        let start = position
        guard !isQuoted, let (least, most) = try quantifier() else { return node }
        guard isRepeatable else { throw malformed("a position cannot be repeated", at: start) }
        node = .repeated(node, least: least, most: most)
        try skipIgnored()
        if isQuoted { return node }
        if take("+") { throw unsupported("a possessive quantifier", from: start) }
        if take("?") { try beyondPortable("a lazy quantifier", from: start) }
        return node
    }

    private static let maximumCount = 65_535

    /// Parses `*`, `+`, `?`, `{n}`, `{n,}` or `{n,m}`, if it follows. Any other `{` is a literal.
    private mutating func quantifier() throws(PatternRefusal) -> (least: Int, most: Int?)? {
        switch current {
        case "*":
            position += 1
            return (0, nil)
        case "+":
            position += 1
            return (1, nil)
        case "?":
            position += 1
            return (0, 1)
        case "{": break
        default: return nil
        }
        let start = position
        position += 1
        let least = takeWhile(Self.isDigit)
        let isOpen = take(",")
        let most = isOpen ? takeWhile(Self.isDigit) : least
        guard !least.isEmpty, take("}") else {
            position = start
            return nil
        }
        let numbers = [least, most].map { Int($0) ?? (isOpen && $0.isEmpty ? 0 : .max) }
        guard numbers.allSatisfy({ $0 <= Self.maximumCount }) else {
            throw malformed("a count is larger than \(Self.maximumCount)", at: start)
        }
        if isOpen, most.isEmpty { return (numbers[0], nil) }
        guard numbers[0] <= numbers[1] else { throw malformed("the counts are not in ascending order", at: start) }
        return (numbers[0], numbers[1])
    }

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

    // MARK: Atoms

    private mutating func atom() throws(PatternRefusal) -> PatternNode? {
        let start = position
        guard let scalar = current else { return nil }
        if isQuoted { return literal() }
        switch scalar {
        case "(":
            position += 1
            depth += 1
            guard depth <= Self.maximumDepth else {
                throw malformed("groups can be nested at most \(Self.maximumDepth) deep", at: start)
            }
            defer { depth -= 1 }
            return try group(from: start)
        case "[": return .set(index(of: try letterClass()))
        case ".":
            position += 1
            return .set(index(of: dot))
        case "^":
            position += 1
            return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case "$":
            position += 1
            return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        case "\\": return try escaped()
        case "*", "+", "?": throw malformed("`\(scalar)` does not follow anything that it could repeat")
        case "{":
            if try quantifier() != nil {
                throw malformed("`\(text(from: start))` does not follow anything that it could repeat", at: start)
            }
        default: break
        }
        let node = literal()
        if "{}]".unicodeScalars.contains(scalar) { try beyondPortable("a bracket without a backslash", from: start) }
        return node
    }

    private var dot: ScalarSet {
        var set = ScalarSet()
        if flags.dotMatchesLineFeed {
            set.insert(fixed: [ScalarSet.all])
        } else {
            set.insert(fixed: ScalarSet.inverted(dialect == .portable ? [10...10, 13...13] : [10...10]))
        }
        return set
    }

    private mutating func literal() -> PatternNode {
        position += 1
        return literal(scalars[position - 1].value)
    }

    mutating func literal(_ scalar: UInt32) -> PatternNode {
        var set = ScalarSet()
        set.insert(scalar...scalar)
        set.ignoresCase = flags.ignoresCase
        return .set(index(of: set))
    }

    /// Returns the index of the set in `sets`, to which it is added first if it is new.
    mutating func index(of set: ScalarSet) -> Int {
        if let index = indices[set] { return index }
        sets.append(set)
        indices[set] = sets.count - 1
        return sets.count - 1
    }
}
