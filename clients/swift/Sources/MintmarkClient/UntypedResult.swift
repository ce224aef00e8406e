import JSON

/// The result of a method that this client does not know: `let result = try await m.call("name", ["a": 1])`.
///
/// Printing it shows the names of its members and no values, because this client does not know which of them are secrets. `json` is the
/// complete result.
@dynamicMemberLookup
public struct UntypedResult: WireValue, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The complete result. Printing this value shows secrets.
    public let json: JSONValue

    public init(wire: JSONValue) { json = wire }

    public var wire: JSONValue { json }

    /// The text, or `nil` for a value of another type.
    public var string: String? { json.string }
    /// The whole number, or `nil` for a value of another type.
    public var int: Int? { json.int.map { Int($0) } }
    public var bool: Bool? { json.bool }
    /// The elements, or `nil` if this is not an array.
    public var array: [UntypedResult]? { json.array.map { $0.map { UntypedResult(wire: $0) } } }

    public subscript(_ name: String) -> UntypedResult? { json[name].map { UntypedResult(wire: $0) } }
    public subscript(_ position: Int) -> UntypedResult? { json[position].map { UntypedResult(wire: $0) } }
    public subscript(dynamicMember name: String) -> UntypedResult? { self[name] }

    public var description: String { Self.shape(of: json) }
    public var debugDescription: String { description }
    public var shown: String { description }
    /// Hides secrets from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func shape(of value: JSONValue) -> String {
        if let object = value.object {
            return "{" + object.members.map { "\($0.name): \(shape(of: $0.value))" }.joined(separator: ", ") + "}"
        }
        if let array = value.array { return "[\(array.count) elements]" }
        return value.isNull ? "null" : "…"
    }
}

extension Caller {
    /// Calls a method that this client does not know. Printing the result shows no values, because they can be secrets.
    public func call(
        _ method: String, _ params: JSONObject = [:], timeout: Duration? = nil, trace: String? = nil
    ) async throws -> UntypedResult {
        try await call(method, params, timeout: timeout, trace: trace, as: UntypedResult.self)
    }
}
