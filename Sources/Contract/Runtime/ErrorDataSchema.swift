import JSON

/// The schema of an error's data. Supports what fault injection needs: it validates given members and generates missing ones.
struct ErrorDataSchema {
    private let schema: JSONValue
    private let shared = OpenRPCDocument.sharedSchemas

    init(_ schema: JSONValue) { self.schema = schema }

    private func resolved(_ schema: JSONValue) -> JSONValue {
        guard let reference = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
        return shared[String(reference)] ?? schema
    }

    /// The members without `type`, which every error has.
    private var members: [(name: String, value: JSONValue)] {
        (schema["properties"]?.object?.members ?? []).filter { $0.name != "type" }
    }

    // MARK: Validation

    /// Returns the violations in `data`.
    func violations(_ data: JSONObject, at pointer: String) -> [Violation] {
        data.members.flatMap { name, value -> [Violation] in
            let place = "\(pointer)/\(JSONPointer.escaped(name))"
            guard let schema = members.first(where: { $0.name == name })?.value else {
                let names = members.map(\.name).joined(separator: ", ")
                let hint = names.isEmpty ? "it has no members." : "its members are \(names)."
                return [Violation(pointer: place, rule: "unknownParameter", message: "The error has no member \(name); \(hint)")]
            }
            return violations(value, resolved(schema), place)
        }
    }

    private func violations(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [Violation] {
        if let choices = schema["enum"]?.array, !choices.contains(value) {
            let names = choices.compactMap(\.string).joined(separator: ", ")
            return [Violation(pointer: place, rule: "enum", message: "\(place) must be one of \(names).")]
        }
        guard let type = schema["type"]?.string else { return [] }
        let isRight: Bool =
            switch (type, value) {
            case ("string", .string), ("array", .array), ("object", .object), ("boolean", .bool): true
            case ("integer", .number(let number)): number.int64 != nil
            default: false
            }
        if !isRight { return [Violation(pointer: place, rule: "type", message: "\(place) must be of type \(type).")] }
        guard let list = value.array, let items = schema["items"] else { return [] }
        return list.enumerated().flatMap { violations($1, resolved(items), "\(place)/\($0)") }
    }

    // MARK: Placeholders

    /// Returns the duration of a lockout, in seconds: the value implied by the error data, or 60.
    private static func wait(_ data: JSONObject, at now: Int64) -> Int64 {
        let given = data["retryAfterSeconds"]?.int ?? data["lockedUntil"]?.int.map { max($0, now) - now }
        return min(max(given ?? 60, 1), 1 << 32)
    }

    /// Returns `data` with all members that the schema requires, in the order of the schema.
    func completed(_ data: JSONObject, at now: Int64) -> JSONObject {
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
        let wait = required.contains("lockedUntil") ? Self.wait(data, at: now) : nil
        var complete = JSONObject()
        for (name, schema) in members {
            if let value = data[name] {
                complete[name] = .some(value)
            } else if required.contains(name) {
                complete[name] =
                    switch (name, wait) {
                    case ("lockedUntil", let wait?): .number(JSONNumber(now + wait))
                    case ("retryAfterSeconds", let wait?): .number(JSONNumber(wait))
                    default: .some(example(of: schema, named: name, at: now))
                    }
            }
        }
        return complete
    }

    private func example(of schema: JSONValue, named name: String, at now: Int64) -> JSONValue {
        let resolved = resolved(schema)
        if let value = schema["default"] ?? resolved["default"] ?? resolved["enum"]?[0] { return value }
        switch resolved["type"]?.string {
        case "integer":
            if schema["$ref"]?.string?.hasSuffix("/Timestamp") ?? false { return .number(JSONNumber(now)) }
            return .number(JSONNumber(max(1, resolved["minimum"]?.int ?? 1)))
        case "boolean": return false
        case "array": return []
        case "object": return [:]
        default: return .string(Self.text(schema["$ref"]?.string?.split(separator: "/").last.map { String($0) } ?? name))
        }
    }

    /// - Parameter kind: The name of the shared type or of the member.
    private static func text(_ kind: String) -> String {
        switch kind {
        case "PoolId", "IdentityId", "AccountId": (kind == "AccountId" ? "" : "local-1:") + "00000000-0000-4000-8000-000000000000"
        case "TenantId": "default"
        case "RoleArn": "arn:aws:iam::000000000000:role/test"
        case "Issuer", "LoginProviderName", "provider", "issuer": "https://login.example.com"
        case "EventCursor": "1"
        case "ProviderId", "providerId": "oidc.test"
        case "method", "next": "system.ping"
        case "path", "file": "/nowhere"
        default: "test.fault"
        }
    }
}
