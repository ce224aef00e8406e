import JSON

/// Creates trace records of messages, without secrets. Not thread-safe. Messages must be passed in order: a response does not name its
/// method, so its request must be recorded first.
struct TraceRecorder {
    enum Direction: String { case received = "in", sent = "out" }

    private static let mostUnanswered = 8192

    private var mask = SecretMask()
    /// The methods of unanswered requests, by the source text of their IDs.
    private var unanswered: [String: [String]] = [:]
    private let process: Int64

    init(process: Int64) { self.process = process }

    /// Returns one line of JSON without its end.
    ///
    /// - Parameter microseconds: The time of the message, in microseconds since 1970-01-01 UTC.
    mutating func record(_ bytes: [UInt8], _ direction: Direction, microseconds: Int64) -> [UInt8] {
        var record = head(direction, microseconds: microseconds)
        if let text = try? JSONText(bytes) {
            record["message"] = message(text.root, direction)
        } else {
            // A message that cannot be parsed cannot be masked.
            record["unreadableBytes"] = .number(.init(Int64(bytes.count)))
        }
        return JSONValue.object(record).bytes
    }

    /// Returns a record that states that `count` messages are missing at this position.
    func gap(_ count: Int, microseconds: Int64) -> [UInt8] {
        var record = head(nil, microseconds: microseconds)
        record["missing"] = .number(.init(Int64(count)))
        return JSONValue.object(record).bytes
    }

    private func head(_ direction: Direction?, microseconds: Int64) -> JSONObject {
        var record: JSONObject = ["at": .number(JSONNumber(Double(microseconds) / 1_000_000) ?? .init(microseconds / 1_000_000))]
        record["process"] = .number(.init(process))
        if let direction { record["direction"] = .string(direction.rawValue) }
        return record
    }

    private mutating func message(_ node: JSONNode, _ direction: Direction) -> JSONValue {
        if node.kind == .array {
            var members: [JSONValue] = []
            node.forEachElement { members.append(message($1, direction)) }
            return .array(members)
        }
        guard var message = node.value.object else { return mask.hide(node.value) }
        let id = node["id"]?.rawText
        if let method = message["method"]?.string {
            let called =
                method == "tools/call"
                ? message["params"]?["name"]?.string.map { "tools/call " + Self.method(ofTool: $0) } ?? method : method
            if let params = message["params"] { message["params"] = self.params(params, of: called) }
            if let id, direction == .received { remember(id, called) }
        } else {
            let methods = id.flatMap { unanswered.removeValue(forKey: $0) } ?? []
            if methods.count > 1 { unanswered[id ?? ""] = Array(methods.dropFirst()) }
            // Two requests with the same ID may get their responses in any order.
            let method = Set(methods).count == 1 ? methods[0] : nil
            if let result = message["result"] { message["result"] = method.map { self.result(result, of: $0) } ?? mask.hide(result) }
            if let data = message["error"]?["data"], var error = message["error"]?.object {
                error["data"] = mask.errorData(data)
                message["error"] = .object(error)
            }
        }
        for name in message.names where !["jsonrpc", "id", "method", "params", "result", "error", "trace", "progressToken"].contains(name) {
            message[name] = mask.hide(message[name] ?? .null)
        }
        return .object(message)
    }

    private mutating func remember(_ id: String, _ method: String) {
        // A canceled request in a tool session never gets a response. Responses to requests removed here are hidden.
        if unanswered.count >= Self.mostUnanswered { unanswered = [:] }
        unanswered[id, default: []].append(method)
    }

    private mutating func params(_ params: JSONValue, of method: String) -> JSONValue {
        if let tool = Self.tool(method), var call = params.object {
            if let arguments = call["arguments"] {
                call["arguments"] = mask.knows(tool) ? mask.params(arguments, of: tool) : mask.hide(arguments)
            }
            for name in call.names where !["name", "arguments", "_meta"].contains(name) { call[name] = mask.hide(call[name] ?? .null) }
            return .object(call)
        }
        if mask.knows(method) { return mask.params(params, of: method) }
        return Self.isProtocols(method) ? mask.free(params) : mask.hide(params)
    }

    private mutating func result(_ result: JSONValue, of method: String) -> JSONValue {
        if mask.knows(method) { return mask.result(result, of: method) }
        guard let tool = Self.tool(method), var answer = result.object else { return Self.isProtocols(method) ? result : mask.hide(result) }
        if let content = answer["structuredContent"] {
            let masked = mask.knows(tool) ? mask.result(content, of: tool) : mask.hide(content)
            answer["structuredContent"] = masked
            answer["content"] = [["type": "text", "text": .string(masked.text)]]
        } else {
            // An error result contains the message, the code and the data.
            answer["content"] = .array(
                (answer["content"]?.array ?? []).enumerated().map { $0.offset == 0 ? $0.element : details($0.element) })
        }
        return .object(answer)
    }

    private func details(_ block: JSONValue) -> JSONValue {
        guard let text = block["text"]?.string, var details = (try? JSONValue(parsing: text))?.object else { return mask.hide(block) }
        details["data"] = details["data"].map { mask.errorData($0) }
        return ["type": "text", "text": .string(JSONValue.object(details).text)]
    }

    /// Returns whether the method belongs to a protocol and not to the contract.
    private static func isProtocols(_ method: String) -> Bool {
        ["$/", "notifications/", "credentialsProvider/"].contains { method.hasPrefix($0) }
            || ["initialize", "ping", "tools/list"].contains(method)
    }

    private static func tool(_ method: String) -> String? { method.hasPrefix("tools/call ") ? String(method.dropFirst(11)) : nil }

    private static func method(ofTool name: String) -> String { String(name.map { $0 == "_" ? "." : $0 }) }
}
