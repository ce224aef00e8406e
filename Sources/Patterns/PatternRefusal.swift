/// The reason a text is not a valid pattern.
public enum PatternRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// PCRE2 cannot be loaded; the text is the loader's message.
    case libraryMissing(String)
    case tooLong(maximumBytes: Int)
    /// The syntax is not valid after `offset` Unicode scalars; the reason is PCRE2's message.
    case malformed(offset: Int, reason: String)

    public var description: String {
        switch self {
        case .libraryMissing(let why): "PCRE2 cannot be loaded (\(why)). Install it: apt-get install libpcre2-8-0"
        case .tooLong(let bytes): "The pattern is longer than \(bytes) bytes."
        case .malformed(let offset, let reason): "The pattern is not valid at character \(offset): \(reason)."
        }
    }
}
