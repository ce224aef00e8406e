import JSON
import Platform

/// Writes responses and notifications in their wire format, without the frame.
extension JSONWriter {
    /// Begins a response, up to the name of its outcome.
    private mutating func beginAnswer(_ id: JSONNode?, _ trace: JSONNode?) {
        beginText()
        bytes.append("{\"jsonrpc\":\"2.0\",\"id\":")
        if let id { id.appendRaw(to: &bytes) } else { bytes.append("null") }
        if let trace {
            bytes.append(",\"trace\":")
            trace.appendRaw(to: &bytes)
        }
    }

    /// Writes a response whose result is written by `body`. If `body` writes nothing, the result is `null`.
    mutating func answer(_ envelope: Envelope, result body: (inout JSONWriter) throws -> Void) rethrows {
        beginAnswer(envelope.id, envelope.trace)
        bytes.append(",\"result\":")
        let start = bytes.count
        try body(&self)
        if bytes.count == start { bytes.append("null") }
        bytes.append(UInt8(ascii: "}"))
        beginText()
    }

    /// Writes an error response.
    mutating func answer(id: JSONNode?, trace: JSONNode?, error: any ResponseError) {
        beginAnswer(id, trace)
        bytes.append(",\"error\":")
        beginObject()
        key("code")
        int(error.code)
        key("message")
        string(error.message)
        key("data")
        error.writeData(to: &self)
        endObject()
        bytes.append(UInt8(ascii: "}"))
        beginText()
    }

    mutating func notification(_ method: String, params body: (inout JSONWriter) -> Void) {
        beginText()
        bytes.append("{\"jsonrpc\":\"2.0\",\"method\":")
        string(method)
        bytes.append(",\"params\":")
        beginText()
        body(&self)
        bytes.append(UInt8(ascii: "}"))
        beginText()
    }

    /// Removes and overwrites the bytes after the first `count`, which may contain secrets.
    mutating func rewind(to count: Int) {
        bytes.wipe(from: count)
        beginText()
    }
}

extension [UInt8] {
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
