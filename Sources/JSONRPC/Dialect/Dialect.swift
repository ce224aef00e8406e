import JSON

/// The protocol differences between plain JSON-RPC 2.0 and protocols based on it.
public enum Dialect: Sendable {
    /// JSON-RPC 2.0, with cancellation and progress as in the Language Server Protocol.
    case plain
    /// The Model Context Protocol, revision 2025-06-18 or later. It has no batches, sends no response to a canceled request, and uses its
    /// own notification names.
    case modelContext

    var takesBatches: Bool { self == .plain }

    /// Returns whether the error is sent to the caller. In the Model Context Protocol, a canceled request gets no response.
    func answers(_ error: any ResponseError) -> Bool { self == .plain || !(error is RequestCancelled) }

    /// Writes a progress notification for a call, or nothing if the caller did not request progress.
    ///
    /// The Model Context Protocol requires an increasing number: the first integer of `value`. It also accepts a human-readable message and
    /// a total. The total is the second integer, unless it is smaller than the first and therefore counts something different.
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

/// Converts the outcome of a method to the format of another protocol.
public protocol AnswerForm: Sendable {
    /// Writes one JSON value in place of `result`, the output of the method. `result` may be empty.
    ///
    /// - Parameter params: The params of the call.
    func write(result: ArraySlice<UInt8>, for params: JSONNode?, to writer: inout JSONWriter)
    /// Returns whether the error is sent as a result. Otherwise, it is sent as an error.
    func isResult(_ error: any ResponseError, for params: JSONNode?) -> Bool
    /// Writes one JSON value for such an error.
    func write(_ error: any ResponseError, for params: JSONNode?, to writer: inout JSONWriter)
}
