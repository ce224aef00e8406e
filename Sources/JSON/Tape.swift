#if canImport(Glibc)
    import Glibc
#endif

/// The nodes of a text in the order in which they begin, and the text itself, in one piece of memory. A container's children follow
/// it; `next` leads past them. Never changed once it is made.
final class Tape: @unchecked Sendable {
    private let nodes: UnsafePointer<Node>
    private let nodeCount: Int
    private let bytes: UnsafeBufferPointer<UInt8>

    /// - Parameters:
    ///   - nodes: memory from `malloc`, which belongs to the tape from now on, with room for the text behind the nodes.
    init(owning nodes: UnsafeMutablePointer<Node>, count: Int, copying text: UnsafeRawBufferPointer) {
        self.nodes = UnsafePointer(nodes)
        nodeCount = count
        let copy = UnsafeMutableRawPointer(nodes + count)
        if let start = text.baseAddress { copy.copyMemory(from: start, byteCount: text.count) }
        bytes = UnsafeBufferPointer(start: copy.assumingMemoryBound(to: UInt8.self), count: text.count)
    }

    deinit { free(UnsafeMutablePointer(mutating: nodes)) }

    subscript(_ index: Int) -> Node {
        withExtendedLifetime(self) {
            precondition(index < nodeCount)
            return nodes[index]
        }
    }

    /// Lends a part of the text.
    func withBytes<R>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(UnsafeBufferPointer(rebasing: bytes[range])) }
    }

    struct Node: Sendable {
        var shape: Shape
        /// Where the value stands in the bytes; a string's quotes are outside.
        var start: UInt32
        var end: UInt32
        /// The index of the node after this one and everything in it.
        var next: UInt32
        /// Members or elements.
        var count: UInt32
    }

    enum Shape: UInt8, Sendable {
        case null, `false`, `true`, number, plainString, escapedString, array, object
    }
}
