import Contract
import JSON
import JSONRPC

/// The results of `tools/call`. The result of a method is included as structured content and as text. An error of a method becomes a result
/// with `isError`, which the model can read and react to.
struct ToolAnswers: AnswerForm {
    let session: ModelContextSession

    func write(result: ArraySlice<UInt8>, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("content")
        writer.beginArray()
        Self.text(&writer) { $0.string(utf8: result) }
        writer.endArray()
        writer.key("structuredContent")
        writer.raw(result)
        writer.key("isError")
        writer.bool(false)
        writer.endObject()
    }

    /// An invalid call is a protocol error: an unknown tool in every revision, and invalid arguments in 2025-06-18. Since 2025-11-25,
    /// invalid arguments are a result, so that the model can correct them.
    func isResult(_ error: any ResponseError) -> Bool {
        if error is MalformedToolCall || [Contract.InvalidRequest.code, Contract.RequestCancelled.code].contains(error.code) {
            return false
        }
        return error.code != InvalidParams.code || session.revision != .june2025
    }

    func write(_ error: any ResponseError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("content")
        writer.beginArray()
        Self.text(&writer) { $0.string("\(error.type): \(error.message)") }
        var details = JSONWriter()
        details.beginObject()
        details.key("code")
        details.int(error.code)
        details.key("data")
        error.writeData(to: &details)
        details.endObject()
        Self.text(&writer) { $0.string(utf8: details.bytes) }
        writer.endArray()
        writer.key("isError")
        writer.bool(true)
        writer.endObject()
    }

    private static func text(_ writer: inout JSONWriter, _ write: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key("type")
        writer.string("text")
        writer.key("text")
        write(&writer)
        writer.endObject()
    }
}

/// A `tools/call` with malformed params or an unknown tool (-32602).
struct MalformedToolCall: ResponseError {
    let pointer: String
    let reason: String
    var code: Int { InvalidParams.code }
    var type: String { InvalidParams.type }
    var message: String { reason }

    func writeData(to writer: inout JSONWriter) {
        InvalidParams(violations: [Violation(pointer: pointer, rule: "toolsCall", message: reason)]).writeData(to: &writer)
    }
}
