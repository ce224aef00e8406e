import Glibc

extension String {
    /// Returns whether both strings have the same UTF-8 bytes. `==` uses canonical equivalence, so strings with different bytes can be
    /// equal.
    @inlinable
    public func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let answer = utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { b in a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0 }
        }
        return (answer ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
