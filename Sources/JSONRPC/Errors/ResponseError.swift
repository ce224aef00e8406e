import JSON

/// An error that maps to a specific error response (JSON-RPC 2.0 section 5.1).
public protocol ResponseError: Error {
    /// The error code, which is unique to this error type.
    var code: Int { get }
    /// The stable name of the error type, sent as `data.type`.
    var type: String { get }
    /// A human-readable message that states the problem and the next step.
    var message: String { get }
    /// Writes `error.data`: one JSON object whose member `type` is `type`.
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
