import JSON

extension JSONValue {
    /// A number.
    ///
    /// - Throws: `UsageError` for NaN and infinities, which JSON cannot write.
    public init(_ number: Double) throws(UsageError) {
        guard let written = JSONNumber(number) else { throw UsageError("the number \(number) has no JSON") }
        self = .number(written)
    }

    /// Converts `value` to JSON: dictionaries with string keys, lists, strings, numbers, booleans and nil.
    ///
    /// - Throws: `UsageError` for other values, such as dates, class instances and functions, and for values nested more than 60 levels
    ///   deep.
    public init(any value: Any?) throws(UsageError) { self = try Self.of(value, depth: 0) }

    private static func of(_ value: Any?, depth: Int) throws(UsageError) -> JSONValue {
        guard depth <= 60 else { throw UsageError("a value that nests deeper than 60 levels cannot be sent") }
        switch value {
        case nil: return .null
        case let value as JSONValue: return value
        case let value as any WireValue where !(value is [Any] || value is [String: Any]): return value.wire
        case let value as Double: return try JSONValue(value)
        case let value as Float: return try JSONValue(Double(value))
        case let value as any BinaryInteger:
            guard let number = Int64(exactly: value) else { throw UsageError("the number \(value) is too large") }
            return .number(JSONNumber(number))
        case let values as [Any?]:
            var elements: [JSONValue] = []
            for value in values { elements.append(try of(value, depth: depth + 1)) }
            return .array(elements)
        case let values as [String: Any?]:
            var object = JSONObject()
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { object[name] = try of(value, depth: depth + 1) }
            return .object(object)
        case let value?: throw UsageError("a value of the type \(type(of: value)) has no JSON")
        }
    }
}
