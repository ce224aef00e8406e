import JSON

/// Any JSON value: the parameters and results of methods that this client does not know, and the values of claims.
public typealias JSONValue = JSON.JSONValue
/// A free-form JSON object that keeps the order of its members.
public typealias JSONObject = JSON.JSONObject

/// A value that can be sent and received as JSON.
public protocol WireValue: Sendable {
    /// - Throws: `UnexpectedValue` if the JSON value has another type.
    init(wire: JSONValue) throws
    /// The value as JSON.
    var wire: JSONValue { get }
    /// The value for display, without secrets.
    var shown: String { get }
}

extension WireValue {
    public var shown: String { wire.text }
}

/// A JSON value has an unexpected type.
public struct UnexpectedValue: Error, CustomStringConvertible {
    /// The location of the value and the expected type.
    public let description: String
}

extension Bool: WireValue {
    public init(wire: JSONValue) throws {
        guard let value = wire.bool else { throw UnexpectedValue(description: "not a boolean") }
        self = value
    }
    public var wire: JSONValue { .bool(self) }
}

extension Int: WireValue {
    public init(wire: JSONValue) throws {
        guard let value = wire.int else { throw UnexpectedValue(description: "not a whole number") }
        self = Int(value)
    }
    public var wire: JSONValue { .number(JSONNumber(Int64(self))) }
}

extension String: WireValue {
    public init(wire: JSONValue) throws {
        guard let value = wire.string else { throw UnexpectedValue(description: "not a string") }
        self = value
    }
    public var wire: JSONValue { .string(self) }
}

extension JSONValue: WireValue {
    public init(wire: JSONValue) { self = wire }
    public var wire: JSONValue { self }
}

extension JSONObject {
    /// The members that are not nil.
    init(_ members: [(String, (any WireValue)?)]) {
        self.init()
        for (name, value) in members { if let value { self[name] = value.wire } }
    }
}

extension JSONObject: WireValue {
    public init(wire: JSONValue) throws {
        guard let value = wire.object else { throw UnexpectedValue(description: "not an object") }
        self = value
    }
    public var wire: JSONValue { .object(self) }
}

extension Array: WireValue where Element: WireValue {
    public init(wire: JSONValue) throws {
        guard let values = wire.array else { throw UnexpectedValue(description: "not a list") }
        self = try values.map { try Element(wire: $0) }
    }
    public var wire: JSONValue { .array(map(\.wire)) }
    public var shown: String { "[" + map(\.shown).joined(separator: ", ") + "]" }
}

extension Dictionary: WireValue where Key == String, Value: WireValue {
    public init(wire: JSONValue) throws {
        guard let object = wire.object else { throw UnexpectedValue(description: "not an object") }
        self = [:]
        for (name, value) in object.members { self[name] = try Value(wire: value) }
    }
    public var wire: JSONValue {
        var object = JSONObject()
        for (name, value) in sorted(by: { $0.key < $1.key }) { object[name] = value.wire }
        return .object(object)
    }
    public var shown: String { "[" + sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shown)" }.joined(separator: ", ") + "]" }
}

/// A string with known values. A newer Mintmark can return other values.
public protocol OpenEnumeration: WireValue, RawRepresentable<String>, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    init(rawValue: String)
}

extension OpenEnumeration {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
    public init(wire: JSONValue) throws { self.init(rawValue: try String(wire: wire)) }
    public var wire: JSONValue { .string(rawValue) }
    public var description: String { rawValue }
}
