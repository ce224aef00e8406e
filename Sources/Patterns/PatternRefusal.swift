/// The reason a text is not a valid pattern. Positions count Unicode scalars, from 0; descriptions count them from 1.
public enum PatternRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong(maximumBytes: Int)
    /// The repetitions of the pattern need more instructions than the automaton may have.
    case tooLarge(maximumInstructions: Int)
    /// The syntax is not valid at this position.
    case malformed(position: Int, reason: String)
    /// Other engines know the construct at this position, but it cannot be matched in linear time or is not implemented.
    ///
    /// - `construct`: The construct as written, such as `(?=`.
    /// - `name`: The name of the construct with its article, such as `a lookahead`.
    case unsupported(position: Int, construct: String, name: String)

    public var description: String {
        switch self {
        case .tooLong(let bytes): "the pattern is longer than \(bytes) bytes"
        case .tooLarge(let count): "the pattern repeats too much: written out, it can have at most \(count) steps; use smaller counts"
        case .malformed(let position, let reason): "the pattern is not valid at character \(position + 1): \(reason)"
        case .unsupported(let position, let construct, let name):
            "the pattern has \(name), `\(construct)`, at character \(position + 1), which is not supported"
        }
    }
}
