import Contract
import JSON

/// Converts the contract's schemas to the form that the Model Context Protocol requires (JSON Schema 2020-12). References are resolved,
/// because many clients do not follow them.
struct ToolSchema {
    let names: ToolNames
    /// Whether parameters that are secret are included.
    let secrets: Bool
    /// Whether to leave out the rules that the service checks anyway, such as patterns and lengths, and the descriptions of the members of
    /// parameters. `describe_method` includes them.
    var isShort = true
    private let shared = OpenRPCDocument.sharedSchemas

    init(names: ToolNames, secrets: Bool, isShort: Bool = true) {
        self.names = names
        self.secrets = secrets
        self.isShort = isShort
    }

    /// Returns the schema of a tool's arguments, built from the params of a method's OpenRPC object.
    func input(_ method: JSONValue) -> JSONValue {
        var properties = JSONObject()
        var required: [JSONValue] = []
        for param in method["params"]?.array ?? [] {
            guard let name = param["name"]?.string, let schema = param["schema"], secrets || !isHidden(schema) else { continue }
            properties[name] = shortened(complete(schema, description: param["description"], isInput: true, depth: 0))
            if param["required"]?.bool == true { required.append(.string(name)) }
        }
        var schema: JSONObject = ["type": "object"]
        if !properties.members.isEmpty { schema["properties"] = .object(properties) }
        if !required.isEmpty { schema["required"] = .array(required) }
        schema["additionalProperties"] = false
        return .object(schema)
    }

    /// The length of the schema of a parameter in the list of tools, in bytes. The members of a longer one are left out.
    private static let maximumLength = 1000

    /// Returns a schema that leaves the members of a large object to `describe_method`.
    private func shortened(_ schema: JSONValue) -> JSONValue {
        guard isShort, let object = schema.object, schema.text.utf8.count > Self.maximumLength else { return schema }
        var short = JSONObject()
        for keyword in ["description", "type"] { short[keyword] = object[keyword] }
        let text = short["description"]?.string.map { $0 + " " } ?? ""
        short["description"] = .string("\(text)For its members, call \(ToolTable.describeName).")
        return .object(short)
    }

    /// Returns whether a method has a parameter with this name that is left out.
    func hides(_ name: String, of method: JSONValue) -> Bool {
        let param = method["params"]?.array?.first { $0["name"]?.string == name }
        return !secrets && (param?["schema"]).map(isHidden) == true
    }

    /// Returns the schema of a tool's result.
    func output(_ method: JSONValue) -> JSONValue { complete(method["result"]?["schema"] ?? ["type": "object"], isInput: false, depth: 0) }

    /// Returns the path of a parameter in `arguments` that is secret, or `nil` if there is none.
    func secret(in arguments: JSONNode, of method: JSONValue) -> String? {
        for param in method["params"]?.array ?? [] {
            guard let name = param["name"]?.string, let schema = param["schema"], let value = arguments[name] else { continue }
            if let path = secret(in: value, schema, "/\(name)") { return path }
        }
        return nil
    }

    private func secret(in value: JSONNode, _ schema: JSONValue, _ path: String) -> String? {
        if value.isNull { return nil }
        if isHidden(schema) { return path }
        let schema = resolved(schema)
        if let items = schema["items"], value.kind == .array {
            var found: String?
            value.forEachElement { if found == nil { found = secret(in: $1, items, "\(path)/\($0)") } }
            return found
        }
        for variant in schema["oneOf"]?.array ?? [] { if let found = secret(in: value, variant, path) { return found } }
        for member in schema["properties"]?.object?.members ?? [] {
            if let inner = value[member.name], let found = secret(in: inner, member.value, "\(path)/\(member.name)") { return found }
        }
        return nil
    }

    /// Returns whether a parameter is a secret. Personal data is marked as secret too, because logs must not contain it; it is in objects.
    private func isHidden(_ schema: JSONValue) -> Bool {
        let resolved = resolved(schema)
        return (schema["secret"] == true || resolved["secret"] == true) && resolved["type"] == "string"
    }

    private func resolved(_ schema: JSONValue) -> JSONValue { Self.reference(schema).flatMap { shared[$0] } ?? schema }

    /// Returns a schema with references resolved and without the contract's own keywords. The description of a member takes precedence over
    /// that of its type. The types of the contract are not recursive.
    private func complete(_ schema: JSONValue, description: JSONValue? = nil, isInput: Bool, depth: Int) -> JSONValue {
        var object = schema.object ?? [:]
        if let name = Self.reference(schema) {
            var target = shared[name]?.object ?? [:]
            for member in object.members where member.name != "$ref" { target[member.name] = member.value }
            object = target
        }
        for keyword in ["secret", "choices", "patternDescription", "discriminator"] { object[keyword] = nil }
        if isShort {
            for keyword in ["pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "propertyNames", "maxProperties"] {
                object[keyword] = nil
            }
        }
        if object["description"] == nil { object["description"] = description }
        if isShort, depth > 0 { object["description"] = nil }
        if let text = object["description"]?.string { object["description"] = .string(names.text(text)) }
        // MCP requires `type` in the schema of a result.
        if let variants = object["oneOf"]?.array {
            object["oneOf"] = .array(variants.map { complete($0, isInput: isInput, depth: depth) })
            if object["type"] == nil { object["type"] = "object" }
        }
        if let properties = object["properties"]?.object {
            var completed = JSONObject()
            for member in properties.members where !isInput || secrets || !isHidden(member.value) {
                completed[member.name] = complete(member.value, isInput: isInput, depth: depth + 1)
            }
            object["properties"] = .object(completed)
            let required = (object["required"]?.array ?? []).filter { $0.string.flatMap { completed[$0] } != nil }
            object["required"] = required.isEmpty ? nil : .array(required)
        }
        for keyword in ["items", "additionalProperties", "propertyNames"] where object[keyword]?.object != nil {
            object[keyword] = complete(object[keyword]!, isInput: isInput, depth: depth + 1)
        }
        return .object(object)
    }

    private static func reference(_ schema: JSONValue) -> String? {
        schema["$ref"]?.string.map { String($0.split(separator: "/").last ?? "") }
    }
}
