import JSON
import JSONRPC
import Mintmark
import Platform
import Synchronization

/// An error that a method returned.
struct CallError: Error {
    let code: Int64
    let type: String
    let message: String
    let data: JSONValue

    init(_ error: JSONValue) {
        code = error["code"]?.int ?? 0
        data = error["data"] ?? .null
        type = data["type"]?.string ?? ""
        message = error["message"]?.string ?? ""
    }

    /// Returns the error of a method whose parameters are not valid.
    static func invalidParams(_ pointer: String, _ message: String) -> CallError {
        let violation: JSONValue = ["pointer": .string(pointer), "rule": "form", "message": .string(message)]
        return CallError(["code": -32602, "message": .string(message), "data": ["type": "invalidParams", "violations": [violation]]])
    }

    /// The error object of the response.
    var object: JSONValue { ["code": .number(JSONNumber(code)), "message": .string(message), "data": data] }
}

/// Calls methods in process, through the same dispatcher as requests from the pipe, with the actor `console`.
final class Calls: Sendable {
    static let actor = "console"

    /// The depth to which responses are read. A result contains values as deep as those of a request, inside its own objects.
    private static let deepest = 256

    private typealias Waiting = ConditionLock<[UInt8]?>

    private final class Inbox: Sendable {
        let waiting = Mutex<[Int64: Waiting]>([:])
        let progress = Mutex<[Int64: @Sendable (JSONValue) -> Void]>([:])
    }

    private let server: LocalServer
    private let inbox = Inbox()
    private let number = Atomic<Int64>(0)
    private let mask = Mutex<SecretMask?>(nil)
    private let showsSecrets: Bool

    init(_ mintmark: Mintmark, showsSecrets: Bool) {
        self.showsSecrets = showsSecrets
        let inbox = inbox
        server = mintmark.local(actor: Self.actor) { lines in
            for line in lines.split(separator: UInt8(ascii: "\n")) { Self.receive(Array(line), inbox) }
        }
    }

    /// Calls a method and waits for its result.
    ///
    /// - Parameter progress: Receives the values of `$/progress`.
    /// - Throws: The error of the method.
    func call(
        _ method: String, _ params: JSONObject = [:], trace: String? = nil, progress: (@Sendable (JSONValue) -> Void)? = nil
    ) throws(CallError) -> JSONValue {
        let id = number.add(1, ordering: .relaxed).newValue
        var request: JSONObject = ["jsonrpc": "2.0", "id": .number(JSONNumber(id)), "method": .string(method), "params": .object(params)]
        if let trace { request["trace"] = .string(trace) }
        if progress != nil { request["progressToken"] = .number(JSONNumber(id)) }
        let bytes = JSONValue.object(request).bytes
        // The response to a message that cannot be read has no ID, so no caller would receive it.
        guard (try? JSONText(bytes)) != nil else { throw CallError.invalidParams("/", "The parameters are nested too deeply.") }
        let waiting = Waiting(nil)
        inbox.waiting.withLock { $0[id] = waiting }
        if let progress { inbox.progress.withLock { $0[id] = progress } }
        bytes.withUnsafeBytes { server.take($0) }
        let answer = waiting.wait { $0 }
        inbox.progress.withLock { $0[id] = nil }
        let message = (try? JSONText(answer, maximumDepth: Self.deepest))?.root.value ?? .null
        if let result = message["result"] { return result }
        throw CallError(message["error"] ?? [:])
    }

    /// Calls a method for display: its secrets are masked, unless the console shows them.
    func show(_ method: String, _ params: JSONObject = [:]) throws(CallError) -> JSONValue {
        masked(try call(method, params), of: method)
    }

    /// Returns a result without its secrets, unless the console shows them.
    func masked(_ result: JSONValue, of method: String) -> JSONValue {
        showsSecrets ? result : withMask { $0.result(result, of: method) }
    }

    func masked(error: CallError) -> JSONValue {
        showsSecrets
            ? error.object
            : ["code": .number(JSONNumber(error.code)), "message": .string(error.message), "data": withMask { $0.errorData(error.data) }]
    }

    /// Returns the parameters of a call without their secrets.
    func masked(params: JSONObject, of method: String) -> JSONValue { withMask { $0.params(.object(params), of: method) } }

    private func withMask(_ body: (inout SecretMask) -> JSONValue) -> JSONValue {
        mask.withLock { mask in
            var current = mask ?? SecretMask()
            defer { mask = current }
            return body(&current)
        }
    }

    func close() { _ = server.close(deadline: Monotonic.nanoseconds() + 1_000_000_000) }

    private static func receive(_ line: [UInt8], _ inbox: Inbox) {
        guard let text = try? JSONText(line, maximumDepth: deepest) else { return }
        if let params = text.root["params"] {
            let token = params["token"]?.value.int ?? 0
            if let value = params["value"]?.value { inbox.progress.withLock { $0[token] }?(value) }
            return
        }
        guard let id = text.root["id"]?.value.int, let waiting = inbox.waiting.withLock({ $0.removeValue(forKey: id) }) else { return }
        waiting.withLock { $0 = line }
        waiting.signal()
    }
}
