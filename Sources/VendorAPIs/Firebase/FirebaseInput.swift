import JSON

/// The body or the query of a request. Names in snake_case are those in camelCase, and numbers and strings are interchangeable, as at the
/// original API.
struct FirebaseInput {
    private(set) var members: JSONObject

    init(_ members: JSONObject) { self.members = Self.camelCase(members) }

    /// - Throws: `FirebaseError` if the body is not a JSON object.
    init(body: String) throws {
        if body.allSatisfy(\.isWhitespace) {
            self.init([:])
            return
        }
        guard let value = try? JSONValue(parsing: body) else { throw FirebaseError.payload("Unexpected token.") }
        guard let object = value.object else { throw FirebaseError.payload("Root element must be a message.") }
        self.init(object)
    }

    private static func camelCase(_ object: JSONObject) -> JSONObject {
        var result = JSONObject()
        for (name, value) in object.members { result[camelCase(name)] = camelCase(value) }
        return result
    }

    private static func camelCase(_ value: JSONValue) -> JSONValue {
        if let object = value.object { return .object(camelCase(object)) }
        if let array = value.array { return .array(array.map(camelCase)) }
        return value
    }

    private static func camelCase(_ name: String) -> String {
        let parts = name.split(separator: "_")
        guard parts.count > 1, !name.hasPrefix("_") else { return name }
        return parts[0] + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Whether the member is given and not `null`.
    func has(_ name: String) -> Bool { members[name].map { $0 != .null } ?? false }

    /// The text of a member; `nil` if it is missing.
    ///
    /// - Throws: `FirebaseError` if it is neither a string nor a number.
    func text(_ name: String) throws -> String? {
        guard has(name), let value = members[name] else { return nil }
        if let text = value.string { return text }
        if case .number(let number) = value { return number.text }
        throw FirebaseError.payload("Invalid value at '\(name)' (TYPE_STRING).")
    }

    /// The text of a member; `nil` if it is missing or empty.
    func filled(_ name: String) throws -> String? { try text(name).flatMap { $0.isEmpty ? nil : $0 } }

    func flag(_ name: String) throws -> Bool? {
        guard has(name), let value = members[name] else { return nil }
        if case .bool(let flag) = value { return flag }
        switch value.string {
        case "true": return true
        case "false": return false
        default: throw FirebaseError.payload("Invalid value at '\(name)' (TYPE_BOOL).")
        }
    }

    func integer(_ name: String) throws -> Int64? {
        guard let text = try text(name) else { return nil }
        guard let number = JSONValue.string(text).string.flatMap({ Int64($0) ?? Double($0).flatMap { Int64(exactly: $0) } }) else {
            throw FirebaseError.payload("Invalid value at '\(name)' (TYPE_INT64).")
        }
        return number
    }

    func object(_ name: String) throws -> FirebaseInput? {
        guard has(name), let value = members[name] else { return nil }
        guard let object = value.object else { throw FirebaseError.payload("Invalid value at '\(name)' (Message).") }
        return FirebaseInput(object)
    }

    /// The texts of a list. A single value is a list of one element.
    func texts(_ name: String) throws -> [String] {
        guard has(name), let value = members[name] else { return [] }
        return try (value.array ?? [value]).map {
            guard let text = $0.string else { throw FirebaseError.payload("Invalid value at '\(name)' (TYPE_STRING).") }
            return text
        }
    }

    func objects(_ name: String) throws -> [FirebaseInput] {
        guard has(name), let value = members[name] else { return [] }
        return try (value.array ?? [value]).map {
            guard let object = $0.object else { throw FirebaseError.payload("Invalid value at '\(name)' (Message).") }
            return FirebaseInput(object)
        }
    }
}
