import JSON

/// A JSON object with arbitrary members that is already encoded and is copied to the result unchanged.
public struct EncodedObject: ContractResult, Equatable {
    public let bytes: [UInt8]

    /// - Precondition: `bytes` is one JSON object.
    public init(encoded bytes: [UInt8]) { self.bytes = bytes }

    public init(_ object: JSONObject) { bytes = JSONValue.object(object).bytes }

    /// Copies the object at `node` exactly as it was written.
    ///
    /// - Precondition: `node` is an object.
    public init(_ node: JSONNode) {
        var bytes: [UInt8] = []
        node.appendRaw(to: &bytes)
        self.bytes = bytes
    }

    public func write(to writer: inout JSONWriter) { writer.raw(bytes) }
}

extension JSONObject {
    /// Writes an object without a fixed schema, for types that are used in both params and results.
    func write(to writer: inout JSONWriter) { writer.value(.object(self)) }
}
