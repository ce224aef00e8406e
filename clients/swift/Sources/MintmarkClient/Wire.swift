import JSON

/// An encoded request without its beginning, from the member after the ID onwards.
struct RequestBody {
    let bytes: [UInt8]

    /// - Throws: the error that Mintmark would return for a line that it cannot parse and therefore cannot attribute to the call.
    init(_ method: String, _ params: JSONObject, trace: String?, longestLine: Int) throws {
        func refused(_ code: Int, _ type: String, _ reason: String) -> any Error {
            Answer(
                code: code, type: type, message: "The request cannot be sent: \(reason).",
                data: ["type": .string(type), "reason": .string(reason), "offset": 0], method: method, trace: trace
            ).error
        }
        if Self.isDeeper(.object(params), than: 63) { throw refused(-32700, "parseError", "it nests deeper than 64 levels") }
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.key("method")
        writer.string(method)
        if !params.isEmpty {
            writer.key("params")
            writer.value(.object(params))
        }
        if let trace {
            writer.key("trace")
            writer.string(trace)
        }
        writer.endObject()
        writer.bytes[0] = UInt8(ascii: ",")
        bytes = writer.bytes + [UInt8(ascii: "\n")]
        if bytes.count + 80 > longestLine {
            throw refused(-32600, "invalidRequest", "it is longer than \(longestLine) bytes (maxLineBytes)")
        }
    }

    /// Returns the complete line.
    ///
    /// - Parameter isReporting: whether to request progress, with the ID as the progress token.
    func line(id: Int, isReporting: Bool) -> [UInt8] {
        let beginning = #"{"jsonrpc":"2.0","id":\#(id)"# + (isReporting ? #","progressToken":\#(id)"# : "")
        return [UInt8](beginning.utf8) + bytes
    }

    static func cancellation(of id: Int) -> [UInt8] {
        [UInt8](#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#.utf8) + [UInt8(ascii: "\n")]
    }

    /// Stops at the given number of levels.
    private static func isDeeper(_ value: JSONValue, than levels: Int) -> Bool {
        switch value {
        case .array(let elements): levels == 0 || elements.contains { isDeeper($0, than: levels - 1) }
        case .object(let object): levels == 0 || object.members.contains { isDeeper($0.value, than: levels - 1) }
        case .null, .bool, .number, .string: false
        }
    }
}

/// A message from the server.
enum Incoming: Sendable {
    /// A response with its ID.
    case answer(id: JSONValue, Reply)
    case notification(Mintmark.Notification)
    /// A request to this program.
    case request(id: JSONValue, method: String, JSONObject)

    /// - Throws: `UnexpectedValue` if the line is not a valid message.
    init(_ line: UnsafeRawBufferPointer) throws {
        guard let root = try? JSONText(line, maximumDepth: 128).root, root["jsonrpc"]?.string == "2.0" else {
            throw UnexpectedValue(description: "it wrote \"\(String(decoding: line.prefix(80), as: UTF8.self))\"")
        }
        if let method = root["method"]?.string {
            if let id = root["id"]?.value {
                self = .request(id: id, method: method, root["params"]?.value.object ?? [:])
                return
            }
            self = .notification(Mintmark.Notification(method: method, params: root["params"]?.value.object ?? [:]))
        } else {
            let (result, error) = (root["result"]?.value, root["error"]?.value)
            let isError = error?["code"]?.int != nil && error?["message"]?.string != nil
            guard error == nil ? result != nil : isError else {
                throw UnexpectedValue(description: "its answer \"\(String(decoding: line.prefix(80), as: UTF8.self))\" is none")
            }
            self = .answer(id: root["id"]?.value ?? .null, Reply(result: result, error: error, trace: root["trace"]?.string))
        }
    }
}

/// The response to a call.
struct Reply: Sendable {
    let result: JSONValue?
    let error: JSONValue?
    let trace: String?

    func refusal(of method: String) -> Answer? {
        guard let error else { return nil }
        let data = error["data"]?.object ?? [:]
        return Answer(
            code: error["code"]?.int.map { Int($0) } ?? 0, type: data["type"]?.string ?? "", message: error["message"]?.string ?? "",
            data: data, method: method, trace: trace)
    }
}

/// Whether a version such as 0.1.0 is below another. A text that is not a version is never below another.
func isBelow(_ version: String, _ other: String) -> Bool {
    func numbers(_ text: String) -> [Int]? {
        let parts = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".", omittingEmptySubsequences: false)
        let areNumbers = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
        let numbers = parts.prefix(3).map { Int($0) ?? .max }
        return areNumbers ? numbers + Array(repeating: 0, count: 3 - numbers.count) : nil
    }
    guard let left = numbers(version), let right = numbers(other) else { return false }
    return left.lexicographicallyPrecedes(right)
}
