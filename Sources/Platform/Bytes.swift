import Glibc

extension String {
    /// Whether both have the same UTF-8 bytes. `==` compares by canonical equivalence: what is written otherwise may be equal to it.
    @inlinable
    public func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let answer = utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { b in a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0 }
        }
        return (answer ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
