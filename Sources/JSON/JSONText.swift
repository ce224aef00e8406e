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
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONSyntaxError) in try Parser.parse(buffer, maximumDepth: maximumDepth) }
        }
        tape = try result.get()
    }

    /// Reads a copy of `buffer`; see `init(_:maximumDepth:)`.
    public init(_ buffer: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        tape = try Parser.parse(buffer, maximumDepth: maximumDepth)
    }

    /// Reads `text`; see `init(_:maximumDepth:)`.
    public init(_ text: String, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init([UInt8](text.utf8), maximumDepth: maximumDepth)
    }

    /// The value that the text is.
    public var root: JSONNode { JSONNode(tape: tape, index: 0) }
}
