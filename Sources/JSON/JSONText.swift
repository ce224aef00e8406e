/// One JSON text (RFC 8259). It is validated once on parsing; later access cannot fail.
///
/// The parser rejects duplicate member names, lone surrogates, trailing commas, raw control characters, bytes that are not UTF-8, a byte
/// order mark, data after the value, and nesting deeper than `maximumDepth`.
public struct JSONText: Sendable {
    let tape: Tape

    /// Parses a copy of `bytes`.
    ///
    /// - Throws: `JSONSyntaxError` with the offset of the first invalid byte.
    public init(_ bytes: [UInt8], maximumDepth: Int = 64) throws(JSONSyntaxError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONSyntaxError) in try Parser.parse(buffer, maximumDepth: maximumDepth) }
        }
        tape = try result.get()
    }

    /// Parses a copy of `buffer`; see `init(_:maximumDepth:)`.
    public init(_ buffer: UnsafeRawBufferPointer, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        tape = try Parser.parse(buffer, maximumDepth: maximumDepth)
    }

    /// Parses `text`; see `init(_:maximumDepth:)`.
    public init(_ text: String, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init([UInt8](text.utf8), maximumDepth: maximumDepth)
    }

    /// The root value of the text.
    public var root: JSONNode { JSONNode(tape: tape, index: 0) }
}
