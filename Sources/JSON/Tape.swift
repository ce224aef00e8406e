#if canImport(Glibc)
    import Glibc
#endif

/// The nodes of a text, in the order in which they begin, and the text itself, in one allocation. The children of a container follow it,
/// and `next` is the index after them. Immutable after parsing.
final class Tape: @unchecked Sendable {
    private let nodes: UnsafePointer<Node>
    private let nodeCount: Int
    private let bytes: UnsafeBufferPointer<UInt8>

    /// - Parameters:
    ///   - nodes: Memory from `malloc`, with room for the text after the nodes. The tape takes ownership.
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

    /// Calls `body` with a range of the text.
    func withBytes<R>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(UnsafeBufferPointer(rebasing: bytes[range])) }
    }

    struct Node: Sendable {
        var shape: Shape
        /// The range of the value in the bytes, without the quotes of a string.
        var start: UInt32
        var end: UInt32
        /// The index after this node and all its descendants.
        var next: UInt32
        /// The number of members or elements.
        var count: UInt32
    }

    enum Shape: UInt8, Sendable {
        case null, `false`, `true`, number, plainString, escapedString, array, object
    }
}
