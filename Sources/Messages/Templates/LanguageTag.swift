/// Language tags such as `de-CH` (BCP 47).
public enum LanguageTag {
    /// Returns whether a text has the form of a tag (RFC 5646 section 2.1). Does not check whether the subtags are registered.
    public static func isWellFormed(_ tag: String) -> Bool {
        let subtags = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let first = subtags.first, tag.utf8.count <= 64 else { return false }
        return (2...8).contains(first.count) && first.allSatisfy(isLetter)
            && subtags.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) } }
    }

    /// Returns the best match among `available`: the first tag of `wanted` that is available, either complete or truncated from its end
    /// (RFC 4647 section 3.4, lookup). The comparison is case-insensitive. Ignores `*` and texts that are not language tags.
    ///
    /// - Returns: The tag as written in `available`, or `nil` if none matches.
    public static func lookUp(_ wanted: [String], in available: some Collection<String>) -> String? {
        let known = Dictionary(available.map { ($0.lowercased(), $0) }, uniquingKeysWith: min)
        for range in wanted.prefix(32) where isWellFormed(range) {
            var subtags = range.lowercased().split(separator: "-")
            while !subtags.isEmpty {
                if let found = known[subtags.joined(separator: "-")] { return found }
                subtags.removeLast()
                // A single letter or digit only introduces the subtag that was removed.
                if subtags.last?.utf8.count == 1 { subtags.removeLast() }
            }
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) }
}
