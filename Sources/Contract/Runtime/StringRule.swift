import Platform

#if canImport(Glibc)
    import Glibc
#endif

/// The constraints on a string parameter.
final class StringRule: Sendable {
    /// The allowed length, in Unicode scalars.
    let length: ClosedRange<Int>
    let pattern: StringPattern?
    let isSecret: Bool

    init(length: ClosedRange<Int> = 0...Int.max, pattern: StringPattern? = nil, isSecret: Bool = false) {
        self.length = length
        self.pattern = pattern
        self.isSecret = isSecret
    }

    /// Allows any string without U+0000.
    static let any = StringRule()

    private static let shortSecret = 4096

    enum Breach { case noNulCharacter, minLength, maxLength, pattern }

    /// Returns every constraint that `text` violates.
    func breaches(of text: String) -> [Breach] {
        // A short string is stored inline in stack frames. Tokens, whose rules allow longer strings, are stored on the heap.
        if isSecret, length.upperBound <= Self.shortSecret { ProcessMemory.noteSecret() }
        var text = text
        return text.withUTF8 { bytes in
            if isKept(by: bytes) { return [] }
            var all: [Breach] = []
            let count = Self.scalars(in: bytes)
            if bytes.contains(0) { all.append(.noNulCharacter) }
            if count < length.lowerBound { all.append(.minLength) }
            if count > length.upperBound { all.append(.maxLength) }
            if let pattern, !pattern.matches(bytes) { all.append(.pattern) }
            return all
        }
    }

    /// A fast check, which is sufficient for nearly every string. With a pattern it takes one pass.
    private func isKept(by bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = bytes.count
        if count > length.upperBound || count < length.lowerBound &* 4 {
            guard length.contains(Self.scalars(in: bytes)) else { return false }
        }
        if count > 0, memchr(bytes.baseAddress!, 0, count) != nil { return false }
        return pattern?.matches(bytes) ?? true
    }

    private static func scalars(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        bytes.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
    }
}

/// A pattern that the generator compiled to a table, with one lookup per byte. The numbers in the table are characters: `0` is 0, `1` is 1,
/// and so on.
struct StringPattern: Sendable {
    /// The pattern as a phrase that follows "must be".
    let description: StaticString
    /// The next state, indexed by state × 256 + byte. State 0 rejects permanently; matching begins in state 1.
    let transitions: StaticString
    /// For each state, `1` if the text may end there.
    let accepts: StaticString

    /// The values that the description encloses in backquotes, such as `google.com`.
    var names: [String] {
        let parts = description.description.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }.filter { name in
            var name = name
            return name.withUTF8 { matches($0) }
        }
    }

    /// Returns whether `bytes`, which must be UTF-8, match as a whole.
    func matches(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let transitions = transitions.utf8Start
        var state = 1
        for index in 0..<bytes.count {
            state = Int(transitions[state << 8 | Int(bytes[index])] &- 48)
            if state == 0 { return false }
        }
        return accepts.utf8Start[state] == UInt8(ascii: "1")
    }
}
