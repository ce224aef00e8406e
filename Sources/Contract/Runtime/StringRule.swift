import Platform

#if canImport(Glibc)
    import Glibc
#endif

/// What a string must be like.
struct StringRule: Sendable {
    /// In Unicode scalars.
    let length: ClosedRange<Int>
    let pattern: StringPattern?
    let isSecret: Bool

    init(length: ClosedRange<Int> = 0...Int.max, pattern: StringPattern? = nil, isSecret: Bool = false) {
        self.length = length
        self.pattern = pattern
        self.isSecret = isSecret
    }

    /// Any string without U+0000.
    static let any = StringRule()

    private static let shortSecret = 4096

    enum Breach { case noNulCharacter, minLength, maxLength, pattern }

    /// Every rule that `text` breaks.
    func breaches(of text: String) -> [Breach] {
        // A short string lies in the frames of functions themselves. Tokens, whose rules allow more, are always elsewhere.
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

    /// The answer for nearly every string, in one pass where there is a pattern.
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

/// A pattern compiled by the generator: a table that takes one look-up for each byte.
/// Its numbers are characters, of which `0` stands for 0, `1` for 1 and so on.
struct StringPattern: Sendable {
    /// The pattern in words that complete "must be".
    let description: StaticString
    /// The next state, by state times 256 plus byte. State 0 refuses for good; matching begins in state 1.
    let transitions: StaticString
    /// By state, 1 where the text may end.
    let accepts: StaticString

    /// The values that the description names between backquotes, such as `google.com`.
    var names: [String] {
        let parts = description.description.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }.filter { name in
            var name = name
            return name.withUTF8 { matches($0) }
        }
    }

    /// Whether all of `bytes`, which are UTF-8, match.
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
