/// One JSON text (RFC 8259), read strictly and once: after that every place in it can be looked at without failing.
///
/// Refused are duplicate member names, lone surrogates, trailing commas, raw control characters, bytes that are not
/// UTF-8, a byte order mark, anything after the value, and nesting deeper than `maximumDepth`.
public struct JSONText: Sendable {
    let tape: Tape

    /// Reads `bytes`, of which the result keeps a copy.
    ///
    /// - Throws: `JSONSyntaxError` with the offset of the first byte that is wrong.
    public init(_ bytes: [UInt8], maximumDepth: Int = 64) throws(JSONSyntaxError) {
        tape = try Parser.parse(bytes, maximumDepth: maximumDepth)
    }

    /// Reads a copy of `buffer`; see `init(_:maximumDepth:)`.
    public init(_ buffer: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init([UInt8](buffer), maximumDepth: maximumDepth)
    }

    /// Reads `text`; see `init(_:maximumDepth:)`.
    public init(_ text: String, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init([UInt8](text.utf8), maximumDepth: maximumDepth)
    }

    /// The value that the text is.
    public var root: JSONNode { JSONNode(tape: tape, index: 0) }
}

/// The nodes of a text in the order in which they begin. A container's children follow it; `next` leads past them.
final class Tape: Sendable {
    let bytes: [UInt8]
    let nodes: [Node]

    init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
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
