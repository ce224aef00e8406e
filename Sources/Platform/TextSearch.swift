/// Searching in texts by their bytes.
///
/// `contains`, `split` by a text, `replacing` and `firstRange` of the standard library take its module for regular expressions, 1 MB, into the
/// program; a test checks that nothing uses it.
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

    /// Returns the parts between the places of `separator`, which is not empty; empty parts are kept.
    public func pieces(separatedBy separator: some StringProtocol, maxSplits: Int = .max) -> [SubSequence] {
        var pieces: [SubSequence] = []
        var rest = self[...]
        while pieces.count < maxSplits, let found = rest.firstRange(of: separator) {
            pieces.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        return pieces + [rest]
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

extension ArraySlice<UInt8> {
    /// Whether the bytes of `other` occur in this slice.
    public func includes(_ other: [UInt8]) -> Bool {
        guard let first = other.first else { return true }
        var rest = self
        while let candidate = rest.firstIndex(of: first) {
            rest = rest[candidate...]
            if rest.starts(with: other) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
