import JSON

/// An error that has an answer of its own (JSON-RPC 2.0 section 5.1).
public protocol ResponseError: Error {
    /// The number that belongs to this type of error alone.
    var code: Int { get }
    /// The stable name of the type, as it stands in `data.type`.
    var type: String { get }
    /// What happened and what to do next, for people.
    var message: String { get }
    /// Writes `error.data`: one JSON object, whose member `type` is `type`.
    func writeData(to writer: inout JSONWriter)
}

extension ResponseError {
    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.endObject()
    }
}
