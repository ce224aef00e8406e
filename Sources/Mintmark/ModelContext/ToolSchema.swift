import Contract
import JSON

/// The contract's schemas as the Model Context Protocol wants them (JSON Schema 2020-12): each complete in itself, for many clients follow
/// no references.
struct ToolSchema {
    private let shared: JSONObject

    init() { shared = OpenRPCDocument.sharedSchemas }

    /// The schema of a tool's arguments, made from the params of a method's OpenRPC object.
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

    /// The schema of what a tool answers.
    func output(_ method: JSONValue) -> JSONValue { complete(method["result"]?["schema"] ?? ["type": "object"]) }

    /// Whether anything in a method's params or result is a secret.
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

    /// A schema with what it refers to in its place, and without the contract's own keywords. What describes the place goes before what
    /// describes the type. No type of the contract holds itself.
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
