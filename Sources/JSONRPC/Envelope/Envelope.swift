import JSON

/// A well-formed request or notification (JSON-RPC 2.0 section 4). It is a class because it is passed between threads.
final class Envelope: Sendable {
    /// The ID, or `nil` for a notification, which gets no response.
    let id: JSONNode?
    let method: String
    /// An object, or `nil` if omitted.
    let params: JSONNode?
    /// A string that is included in the response and in logs.
    let trace: JSONNode?
    /// A string or an integer that identifies `$/progress` notifications for this request.
    let progressToken: JSONNode?

    init(id: JSONNode?, method: String, params: JSONNode?, trace: JSONNode?, progressToken: JSONNode?) {
        self.id = id
        self.method = method
        self.params = params
        self.trace = trace
        self.progressToken = progressToken
    }
}

/// The meaning of one JSON value on the wire.
enum Message: Sendable {
    case call(Envelope)
    /// `$/cancelRequest` for the requests with this ID.
    case cancel(JSONNode)
    /// A notification that may be ignored.
    case ignored
    /// A message that gets an error response. `id` is `nil` if it could not be read.
    indirect case refused(id: JSONNode?, trace: JSONNode? = nil, any ResponseError)

    /// Parses one member of a batch, or a line that is not a batch.
    init(_ node: JSONNode) {
        guard node.kind == .object else {
            self = .refused(id: nil, InvalidRequest("a request must be an object"))
            return
        }
        var id: JSONNode?
        var isVersion2 = false
        var method: String?
        var isCancellation = false
        var params: JSONNode?
        var trace: JSONNode?
        var progressToken: JSONNode?
        node.forEachPair { name, value in
            if name.isString("jsonrpc") {
                isVersion2 = value.isString("2.0")
            } else if name.isString("id") {
                id = value
            } else if name.isString("method") {
                method = value.string
                isCancellation = value.isString("$/cancelRequest")
            } else if name.isString("params") {
                // Many libraries send `null` or an empty array for a call without parameters.
                params = value.isNull || value.kind == .array && value.count == 0 ? nil : value
            } else if name.isString("trace") {
                trace = value
            } else if name.isString("progressToken") {
                progressToken = value
            }
        }
        if let given = id, ![.string, .number, .null].contains(given.kind) {
            self = .refused(id: nil, InvalidRequest("id must be a string, a number or null"))
            return
        }
        guard isVersion2 else {
            self = .refused(id: id, InvalidRequest("the member jsonrpc must be \"2.0\""))
            return
        }
        guard let method else {
            self = .refused(id: id, InvalidRequest("the member method must be a string"))
            return
        }
        if let error = Self.flaw(params: params, trace: trace, progressToken: progressToken) {
            self = .refused(id: id, error)
        } else if let params, params.kind == .array {
            // Positional params are valid JSON-RPC, but no method accepts them. A valid notification never gets a response.
            self = id == nil ? .ignored : .refused(id: id, trace: trace, ParamsNotByName())
        } else if id != nil, isCancellation {
            self = .refused(id: id, trace: trace, InvalidRequest("$/cancelRequest is a notification and must not have an id"))
        } else if id == nil, method.utf8.starts(with: "$/".utf8) {
            self = isCancellation ? params?["id"].map { .cancel($0) } ?? .ignored : .ignored
        } else {
            self = .call(Envelope(id: id, method: method, params: params, trace: trace, progressToken: progressToken))
        }
    }

    /// Returns the error that makes a message neither a request nor a notification. If the message has no ID, the response has `id: null`
    /// (JSON-RPC 2.0 section 5).
    private static func flaw(params: JSONNode?, trace: JSONNode?, progressToken: JSONNode?) -> (any ResponseError)? {
        if let trace, (trace.string?.unicodeScalars.count).map({ $0 > 128 }) ?? true {
            return InvalidRequest("the member trace must be a string of at most 128 characters")
        }
        if let progressToken, progressToken.kind != .string, progressToken.number?.int64 == nil {
            return InvalidRequest("the member progressToken must be a string or an integer")
        }
        if let params, params.kind != .object, params.kind != .array {
            return InvalidRequest("the member params must be an object or omitted")
        }
        return nil
    }
}

/// The content of one line or frame.
enum Incoming: Sendable {
    case single(Message)
    case batch([Message])
    /// The content cannot be parsed. The response has `id: null`.
    indirect case refused(any ResponseError)

    static let maximumBatch = 100

    init(_ bytes: UnsafeRawBufferPointer) {
        let text: JSONText
        do {
            text = try JSONText(bytes)
        } catch {
            self = .refused(ParseError(error, in: bytes))
            return
        }
        let root = text.root
        guard root.kind == .array else {
            self = .single(Message(root))
            return
        }
        guard 1...Self.maximumBatch ~= root.count else {
            self = .refused(InvalidRequest("a batch must contain 1 to \(Self.maximumBatch) requests"))
            return
        }
        var messages: [Message] = []
        messages.reserveCapacity(root.count)
        root.forEachElement { messages.append(Message($1)) }
        self = .batch(messages)
    }
}
