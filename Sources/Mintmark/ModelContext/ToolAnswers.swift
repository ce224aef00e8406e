import Contract
import JSON
import JSONRPC

/// The results of `tools/call`. The result of a method is included as structured content and as text. An error of a method becomes a result
/// with `isError`, which the model can read and react to.
struct ToolAnswers: AnswerForm {
    let session: ModelContextSession

    func write(result: ArraySlice<UInt8>, for params: JSONNode?, to writer: inout JSONWriter) {
        let result = session.tools.names.result(result)
        writer.beginObject()
        session.begin(params, &writer)
        writer.key("content")
        writer.beginArray()
        Self.text(&writer) { $0.string(utf8: result[...]) }
        writer.endArray()
        writer.key("structuredContent")
        writer.raw(result)
        writer.key("isError")
        writer.bool(false)
        session.end(params, &writer)
        writer.endObject()
    }

    /// An invalid call is a protocol error: an unknown tool in every revision, and invalid arguments in 2025-06-18. Since 2025-11-25,
    /// invalid arguments are a result, so that the model can correct them.
    func isResult(_ error: any ResponseError, for params: JSONNode?) -> Bool {
        if error is ToolNotOffered { return true }
        if error is UnsupportedProtocolVersion || (error as? MalformedToolCall)?.isProtocolError == true
            || [Contract.InvalidRequest.code, Contract.RequestCancelled.code].contains(error.code)
        {
            return false
        }
        return error.code != InvalidParams.code || RequestEra.isStateless(params) || session.revision != .june2025
    }

    func write(_ error: any ResponseError, for params: JSONNode?, to writer: inout JSONWriter) {
        let names = session.tools.names
        writer.beginObject()
        session.begin(params, &writer)
        writer.key("content")
        writer.beginArray()
        Self.text(&writer) { $0.string("\(error.type): \(names.text(error.message, explaining: !(error is ToolNotOffered)))") }
        var data = JSONWriter()
        error.writeData(to: &data)
        var details = JSONWriter()
        details.beginObject()
        details.key("code")
        details.int(error.code)
        details.key("data")
        details.value(names.value((try? JSONValue(parsing: data.bytes)) ?? .null))
        details.endObject()
        Self.text(&writer) { $0.string(utf8: details.bytes[...]) }
        writer.endArray()
        writer.key("isError")
        writer.bool(true)
        session.end(params, &writer)
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

/// A request with malformed params, such as an unknown tool (-32602).
struct MalformedToolCall: ResponseError {
    let pointer: String
    let reason: String
    /// Whether the model cannot correct the error, so that it is not a result.
    var isProtocolError = true
    var code: Int { InvalidParams.code }
    var type: String { InvalidParams.type }
    var message: String { reason }

    func writeData(to writer: inout JSONWriter) {
        InvalidParams(violations: [Violation(pointer: pointer, rule: "toolsCall", message: reason)]).writeData(to: &writer)
    }
}

/// A call of a tool that exists but is not offered in this session. It is always a result.
struct ToolNotOffered: ResponseError {
    let tool: String
    let reason: String
    var code: Int { InvalidParams.code }
    var type: String { "toolNotOffered" }
    var message: String { "The tool \(tool) is not offered: \(reason)" }
}
