import CPCRE

/// A regular expression that an administrator wrote and that is matched against untrusted text, in bounded time for every pattern and text.
///
/// The syntax is that of Perl, implemented by PCRE2 in UTF mode: `.` matches one Unicode scalar, `\p{L}` any letter; `\d`, `\w` and `\s`
/// match ASCII only. `$` matches only at the end of the text and not before a final line break. `\C` is rejected.
public final class BoundedPattern: @unchecked Sendable {
    // Safe because PCRE2 never changes a compiled pattern.
    private let code: OpaquePointer
    /// The pattern as written.
    public let text: String
    private let limits: Limits

    /// The part of the text that a pattern must match.
    public enum Extent: Sendable {
        /// The whole text, as if the pattern were enclosed in `\A(?:` and `)\z`.
        case whole
        /// Any part of the text.
        case anywhere
    }

    /// The limits of a match.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of steps of the matcher.
        public var steps: Int
        /// The maximum depth of nested steps.
        public var depth: Int
        /// The maximum memory, in KiB.
        public var heapKibibytes: Int
        /// The maximum processor time, in milliseconds.
        public var milliseconds: Int

        public init(steps: Int = 1_000_000, depth: Int = 1_000_000, heapKibibytes: Int = 16 * 1024, milliseconds: Int = 50) {
            self.steps = steps
            self.depth = depth
            self.heapKibibytes = heapKibibytes
            self.milliseconds = milliseconds
        }
    }

    /// The result of a match.
    public enum Verdict: Hashable, Sendable {
        case yes
        case no
        /// A limit was exceeded. The caller must treat the text as rejected.
        case tooExpensive
    }

    /// The maximum length of a pattern, in bytes.
    public static let maximumBytes = 2048

    /// Compiles a pattern. Loads PCRE2 on first use.
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
            // The buffer of an empty pattern can have a null address.
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

    /// Matches a text against the pattern.
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
