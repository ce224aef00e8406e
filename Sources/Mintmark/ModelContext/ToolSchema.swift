import Contract
import JSON

/// Converts the contract's schemas to the form that the Model Context Protocol requires (JSON Schema 2020-12). References are resolved,
/// because many clients do not follow them.
struct ToolSchema {
    private let shared: JSONObject

    init() { shared = OpenRPCDocument.sharedSchemas }

    /// Returns the schema of a tool's arguments, built from the params of a method's OpenRPC object.
    func input(_ method: JSONValue) -> JSONValue {
        var properties = JSONObject()
        var required: [JSONValue] = []
        for param in method["params"]?.array ?? [] {
            guard let name = param["name"]?.string else { continue }
            properties[name] = complete(param["schema"] ?? [:], description: param["description"])
            if param["required"]?.bool == true { required.append(.string(name)) }
        }
        var schema: JSONObject = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { schema["required"] = .array(required) }
        schema["additionalProperties"] = false
        return .object(schema)
    }

    /// Returns the schema of a tool's result.
    func output(_ method: JSONValue) -> JSONValue { complete(method["result"]?["schema"] ?? ["type": "object"]) }

    /// Returns whether the params or the result of a method contain a secret.
    func hasSecrets(_ method: JSONValue) -> Bool {
        let schemas = (method["params"]?.array ?? []).compactMap { $0["schema"] } + [method["result"]?["schema"]].compactMap { $0 }
        return schemas.contains { isSecret($0) }
    }

    private func isSecret(_ schema: JSONValue) -> Bool {
        if let name = Self.reference(schema) { return shared[name].map { isSecret($0) } ?? false }
        switch schema {
        case .object(let object):
            return object["secret"] == true || object.members.contains { !["enum", "default"].contains($0.name) && isSecret($0.value) }
        case .array(let elements): return elements.contains { isSecret($0) }
        default: return false
        }
    }

    /// Returns a schema with references resolved and without the contract's own keywords. The description of a member takes precedence over
    /// that of its type. The types of the contract are not recursive.
    private func complete(_ schema: JSONValue, description: JSONValue? = nil) -> JSONValue {
        var object = schema.object ?? [:]
        if let name = Self.reference(schema) {
            var target = shared[name]?.object ?? [:]
            for member in object.members where member.name != "$ref" { target[member.name] = member.value }
            object = target
        }
        object["secret"] = nil
        object["choices"] = nil
        object["patternDescription"] = nil
        // MCP requires `type` in the schema of a result.
        if let variants = object["oneOf"]?.array {
            object["discriminator"] = nil
            object["type"] = "object"
            object["oneOf"] = .array(variants.map { complete($0) })
        }
        if object["description"] == nil { object["description"] = description }
        if let properties = object["properties"]?.object {
            var completed = JSONObject()
            for member in properties.members { completed[member.name] = complete(member.value) }
            object["properties"] = .object(completed)
        }
        for keyword in ["items", "additionalProperties", "propertyNames"] where object[keyword]?.object != nil {
            object[keyword] = complete(object[keyword]!)
        }
        return .object(object)
    }

    private static func reference(_ schema: JSONValue) -> String? {
        schema["$ref"]?.string.map { String($0.split(separator: "/").last ?? "") }
    }
}
