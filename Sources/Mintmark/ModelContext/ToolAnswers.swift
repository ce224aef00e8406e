import Contract
import JSON
import JSONRPC

/// The results of `tools/call`: what a method answers as structured content and as text, and its errors as results that say so, which
/// a model reads and can act on.
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

    /// A wrong call is an error of the protocol: an unknown tool in every revision, invalid arguments up to 2025-06-18. From 2025-11-25 on
    /// these are results, so that the model can correct them.
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

/// A `tools/call` that calls no tool (-32602).
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
