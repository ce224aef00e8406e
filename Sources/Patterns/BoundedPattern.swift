import CPCRE

/// A regular expression that an administrator wrote and that anybody's text is held against, in bounded time whatever the two are.
///
/// The syntax is Perl's, by PCRE2 in UTF mode: `.` is one character of Unicode, `\p{L}` any letter, `\d`, `\w` and `\s` are ASCII's.
/// `$` is the end of the text and not before a last line end. `\C` is refused.
public final class BoundedPattern: @unchecked Sendable {
    // Safe because PCRE2 never changes a compiled pattern.
    private let code: OpaquePointer
    /// The pattern as it was written.
    public let text: String
    private let limits: Limits

    /// Where a pattern must match.
    public enum Extent: Sendable {
        /// From the first to the last character, as if it stood between `\A(?:` and `)\z`.
        case whole
        /// Somewhere.
        case anywhere
    }

    /// What an answer may cost.
    public struct Limits: Hashable, Sendable {
        /// How often the matcher may try one more way.
        public var steps: Int
        /// How deeply these may be nested.
        public var depth: Int
        /// Memory, in KiB.
        public var heapKibibytes: Int
        /// Processor time, in milliseconds.
        public var milliseconds: Int

        public init(steps: Int = 1_000_000, depth: Int = 1_000_000, heapKibibytes: Int = 16 * 1024, milliseconds: Int = 50) {
            self.steps = steps
            self.depth = depth
            self.heapKibibytes = heapKibibytes
            self.milliseconds = milliseconds
        }
    }

    /// What a text is to a pattern.
    public enum Verdict: Hashable, Sendable {
        case yes
        case no
        /// Not decided within the limits. Whoever asks has to take it for a refusal.
        case tooExpensive
    }

    /// Bytes of the longest pattern.
    public static let maximumBytes = 2048

    /// Compiles a pattern. Loads PCRE2 with the first one.
    ///
    /// - Throws: `PatternRefusal`.
    public convenience init(_ text: String, matching extent: Extent = .whole, limits: Limits = Limits()) throws(PatternRefusal) {
        try self.init(text, matching: extent, limits: limits, library: "libpcre2-8.so.0")
    }

    init(_ text: String, matching extent: Extent, limits: Limits, library: String) throws(PatternRefusal) {
        if let reason = cpcre_load(library) { throw .libraryMissing(String(cString: reason)) }
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes else { throw .tooLong(maximumBytes: Self.maximumBytes) }
        var offset = 0
        var reason = [CChar](repeating: 0, count: Int(CPCRE_REASON_CAPACITY))
        let code = bytes.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: CChar.self).baseAddress
            // An empty pattern may have no address.
            return cpcre_compile(start ?? Self.nothing, bytes.count, extent == .whole, &offset, &reason)
        }
        guard let code else {
            let before = String(decoding: bytes.prefix(offset), as: UTF8.self).unicodeScalars.count
            let words = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw .malformed(offset: before, reason: words)
        }
        self.code = code
        self.text = text
        self.limits = limits
    }

    deinit { cpcre_free(code) }

    /// Holds a text against the pattern.
    public func matches(_ text: String) -> Verdict {
        var limits = cpcre_limits(
            steps: UInt32(clamping: limits.steps), depth: UInt32(clamping: limits.depth), heap: UInt32(clamping: limits.heapKibibytes),
            nanoseconds: UInt64(clamping: limits.milliseconds) * 1_000_000)
        var text = text
        let verdict = text.withUTF8 { bytes in
            let start = UnsafeRawBufferPointer(bytes).bindMemory(to: CChar.self).baseAddress
            return cpcre_match(code, start ?? Self.nothing, bytes.count, &limits)
        }
        switch verdict {
        case CPCRE_YES: return .yes
        case CPCRE_NO: return .no
        default: return .tooExpensive
        }
    }

    nonisolated(unsafe) private static let nothing: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()
}
