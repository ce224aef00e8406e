import JSON

/// Where protocols on top of JSON-RPC 2.0 go their own ways.
public enum Dialect: Sendable {
    /// As JSON-RPC 2.0 has it, with cancellation and progress as in the Language Server Protocol.
    case plain
    /// The Model Context Protocol, from its revision 2025-06-18 on: no batches, a cancelled request is not answered, and what is told
    /// unasked has names of its own.
    case modelContext

    var takesBatches: Bool { self == .plain }

    /// Whether an error is told to the caller; in the Model Context Protocol nobody waits for what was cancelled.
    func answers(_ error: any ResponseError) -> Bool { self == .plain || !(error is RequestCancelled) }

    /// Writes how far a call has come; nothing if its caller has not asked for it.
    ///
    /// The Model Context Protocol wants a number that grows, the first integer of `value`, and takes words for people, and a number that
    /// it grows to: the second integer, unless that is behind the first and so counts something else.
    func progress(_ value: JSONValue, of envelope: Envelope, to writer: inout JSONWriter) {
        switch self {
        case .plain:
            guard let token = envelope.progressToken else { return }
            writer.notification("$/progress") { params in
                params.beginObject()
                params.key("token")
                params.raw(token)
                params.key("value")
                params.value(value)
                params.endObject()
            }
        case .modelContext:
            guard let token = envelope.params?["_meta"]?["progressToken"], token.kind == .string || token.kind == .number else { return }
            let numbers = value.object?.members.compactMap { member in member.value.int.map { (name: member.name, count: $0) } } ?? []
            guard let done = numbers.first?.count else { return }
            writer.notification("notifications/progress") { params in
                params.beginObject()
                params.key("progressToken")
                params.raw(token)
                params.key("progress")
                params.int(done)
                if numbers.count > 1, numbers[1].count >= done {
                    params.key("total")
                    params.int(numbers[1].count)
                }
                params.key("message")
                params.string(numbers.map { "\($0.name): \($0.count)" }.joined(separator: ", "))
                params.endObject()
            }
        }
    }
}

/// How a method's outcome is put into another protocol's words.
public protocol AnswerForm: Sendable {
    /// Writes one JSON value in the place of `result`, what the method has written, which may be nothing.
    func write(result: ArraySlice<UInt8>, to writer: inout JSONWriter)
    /// Whether an error is a result too; else it is answered as an error.
    func isResult(_ error: any ResponseError) -> Bool
    /// Writes one JSON value for such an error.
    func write(_ error: any ResponseError, to writer: inout JSONWriter)
}
