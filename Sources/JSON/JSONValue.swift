import Platform

/// A standalone JSON value, for data without a fixed schema such as claims, policies and test data.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// - Throws: `JSONSyntaxError` if the text is not valid JSON.
    public init(parsing text: String) throws(JSONSyntaxError) { self = try JSONText(text).root.value }

    /// - Throws: `JSONSyntaxError` if the text is not valid JSON.
    public init(parsing bytes: [UInt8]) throws(JSONSyntaxError) { self = try JSONText(bytes).root.value }

    /// The member `name`, or `nil` if the member does not exist or this is not an object.
    public subscript(_ name: String) -> JSONValue? { object?[name] }

    /// The element at `position`, or `nil` if the element does not exist or this is not an array.
    public subscript(_ position: Int) -> JSONValue? {
        guard let array, array.indices.contains(position) else { return nil }
        return array[position]
    }

    public var isNull: Bool { self == .null }
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
    public var int: Int64? { number?.int64 }
    public var string: String? { if case .string(let string) = self { string } else { nil } }
    public var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// The value as compact JSON.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as compact JSON in UTF-8.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    public init(floatLiteral value: Double) { self = .number(JSONNumber(value)!) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}

/// The members of an object, in order. Names are compared byte by byte.
public struct JSONObject: Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(name: String, value: JSONValue)] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements { self[name] = value }
    }

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }
    public var names: [String] { members.map(\.name) }

    /// The value of `name`. Setting `nil` removes the member; a new name is appended.
    public subscript(_ name: String) -> JSONValue? {
        get { position(of: name).map { members[$0].value } }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): members.remove(at: position)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Appends a member that is known not to exist.
    mutating func append(name: String, value: JSONValue) { members.append((name, value)) }

    private func position(of name: String) -> Int? {
        members.firstIndex { $0.name.hasBytes(of: name) }
    }
}

extension JSONObject: Hashable {
    /// Returns whether both objects have the same names with the same values, in any order.
    public static func == (a: JSONObject, b: JSONObject) -> Bool {
        a.count == b.count && a.members.allSatisfy { b[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.reduce(0) { $0 ^ $1.name.hashValue })
    }
}
