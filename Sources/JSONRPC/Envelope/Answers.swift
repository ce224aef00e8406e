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

    /// Begins a response with a result. The caller then writes the result, and ends the response with `endResult`.
    ///
    /// - Returns: The place of the result.
    mutating func beginResult(_ envelope: Envelope) -> Int {
        beginAnswer(envelope.id, envelope.trace)
        bytes.append(",\"result\":")
        return bytes.count
    }

    /// Ends a response whose result begins at `start`. If nothing was written there, the result is `null`.
    mutating func endResult(from start: Int) {
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

    /// Writes a request to the host.
    ///
    /// - Parameter params: One JSON object.
    mutating func request(id: String, _ method: String, _ params: JSONValue) {
        beginText()
        bytes.append("{\"jsonrpc\":\"2.0\",\"id\":")
        string(id)
        bytes.append(",\"method\":")
        beginText()
        string(method)
        bytes.append(",\"params\":")
        beginText()
        value(params)
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
