#if canImport(Glibc)
    import Glibc
#endif

/// Finds duplicate member names in an object. Names are equal if their unescaped characters are equal. They are compared byte by byte,
/// without Unicode normalization.
enum DuplicateNames {
    /// Returns the offset of the second of two equal names, or `nil` if the names are unique.
    static func offset(in object: Int, count: Int, nodes: UnsafeBufferPointer<Tape.Node>, bytes: UnsafeBufferPointer<UInt8>)
        -> Int?
    {
        count <= 8 ? byPairs(object, nodes, bytes) : bySet(object, nodes, bytes)
    }

    private static func byPairs(_ object: Int, _ nodes: UnsafeBufferPointer<Tape.Node>, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let end = Int(nodes[object].next)
        var later = object + 1
        while later < end {
            var earlier = object + 1
            while earlier < later {
                if equal(nodes[earlier], nodes[later], bytes) { return Int(nodes[later].start) - 1 }
                earlier = Int(nodes[earlier + 1].next)
            }
            later = Int(nodes[later + 1].next)
        }
        return nil
    }

    private static func equal(_ a: Tape.Node, _ b: Tape.Node, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if a.shape == .plainString, b.shape == .plainString {
            let length = a.end - a.start
            return length == b.end - b.start
                && memcmp(bytes.baseAddress! + Int(a.start), bytes.baseAddress! + Int(b.start), Int(length)) == 0
        }
        return name(a, bytes) == name(b, bytes)
    }

    private static func bySet(_ object: Int, _ nodes: UnsafeBufferPointer<Tape.Node>, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var seen = Set<[UInt8]>()
        let end = Int(nodes[object].next)
        var index = object + 1
        while index < end {
            if !seen.insert(name(nodes[index], bytes)).inserted { return Int(nodes[index].start) - 1 }
            index = Int(nodes[index + 1].next)
        }
        return nil
    }

    private static func name(_ node: Tape.Node, _ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let written = UnsafeBufferPointer(rebasing: bytes[Int(node.start)..<Int(node.end)])
        return node.shape == .plainString ? Array(written) : Unescaping.bytes(written)
    }
}
