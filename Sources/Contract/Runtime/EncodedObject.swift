import JSON

/// A JSON object of any members, encoded already: it goes into the result as it is.
public struct EncodedObject: ContractResult, Equatable {
    public let bytes: [UInt8]

    /// - Precondition: `bytes` are one JSON object.
    public init(encoded bytes: [UInt8]) { self.bytes = bytes }

    public init(_ object: JSONObject) { bytes = JSONValue.object(object).bytes }

    /// The object at `node`, exactly as it was written.
    ///
    /// - Precondition: it is an object.
    public init(_ node: JSONNode) {
        var bytes: [UInt8] = []
        node.appendRaw(to: &bytes)
        self.bytes = bytes
    }

    public func write(to writer: inout JSONWriter) { writer.raw(bytes) }
}

extension JSONObject {
    /// Writes an object of no fixed shape, for types that are both taken and answered.
    func write(to writer: inout JSONWriter) { writer.value(.object(self)) }
}
