/// Searching in texts by their bytes.
///
/// `contains` of the standard library takes its module for regular expressions, 1 MB, into the program; a test checks that nothing uses it.
extension StringProtocol {
    /// Whether the text contains the bytes of `other`.
    public func includes(_ other: some StringProtocol) -> Bool { firstRange(of: other) != nil }

    /// Returns the first place of the bytes of `other`.
    public func firstRange(of other: some StringProtocol) -> Range<Index>? {
        guard let first = other.utf8.first else { return startIndex..<startIndex }
        var rest = utf8[...]
        while let candidate = rest.firstIndex(of: first) {
            rest = rest[candidate...]
            if rest.starts(with: other.utf8) { return candidate..<utf8.index(candidate, offsetBy: other.utf8.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Returns the text with every occurrence of `other`, from left to right, replaced by `replacement`.
    public func replacing(_ other: some StringProtocol, with replacement: some StringProtocol) -> String {
        var result = ""
        var rest = self[...]
        while !other.isEmpty, let found = rest.firstRange(of: other) {
            result += rest[..<found.lowerBound]
            result += replacement
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}
