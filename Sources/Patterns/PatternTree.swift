/// The structure of a pattern.
public indirect enum PatternNode {
    /// One scalar of the set with this index in `PatternTree.sets`.
    case set(Int)
    case sequence([PatternNode])
    case either([PatternNode])
    case repeated(PatternNode, least: Int, most: Int?)
    case assertion(PatternAssertion)
}

/// A condition on a position in the text.
public enum PatternAssertion: Hashable, Sendable {
    case textStart
    case textEnd
    /// The end of the text, or before a line feed at its end.
    case lastLineEnd
    /// The start of the text, or after a line feed that is not at its end.
    case lineStart
    /// The end of the text, or before a line feed.
    case lineEnd
    case wordBoundary
    case noWordBoundary
}

/// A parsed pattern.
public struct PatternTree {
    public let root: PatternNode
    public let sets: [ScalarSet]

    /// Parses a pattern.
    ///
    /// - Throws: `PatternRefusal`.
    public init(_ pattern: String, _ dialect: PatternDialect = .full) throws(PatternRefusal) {
        var parser = PatternParser(pattern, dialect)
        root = try parser.whole()
        sets = parser.sets
    }
}

/// The syntax that a parser accepts.
public enum PatternDialect: Sendable {
    /// The syntax of Perl, except what cannot be matched in linear time.
    case full
    /// The part of `full` that means the same in ECMA 262 and in the languages of the clients: literals, classes, `\w \d \s` and their
    /// negations, groups, alternatives and quantifiers. `.` excludes line feed and carriage return.
    case portable
}
