import Contract
import JSON

/// The schemas of the parameters and the result of a method. A class, because the shared types are parsed only when they are needed.
final class MethodSchema {
    private let object: JSONValue
    private lazy var shared = OpenRPCDocument.sharedSchemas

    /// Returns `nil` if the method does not exist.
    init?(of method: String) {
        guard let info = Contract.MethodTable.all.first(where: { $0.name == method }),
            let object = try? JSONValue(parsing: info.openRPC)
        else { return nil }
        self.object = object
    }

    var parameters: [(name: String, schema: JSONValue, description: String, isRequired: Bool)] {
        (object["params"]?.array ?? []).map {
            ($0["name"]?.string ?? "", $0["schema"] ?? [:], $0["description"]?.string ?? "", $0["required"]?.bool ?? false)
        }
    }

    var result: JSONValue { resolved(object["result"]?["schema"] ?? [:]) }

    /// The columns of a table of the result, or an empty list.
    var columns: [String] { (object["x-columns"]?.array ?? []).compactMap(\.string) }

    /// Whether the method reports `$/progress`.
    var reportsProgress: Bool { object["x-progress"] != nil }

    /// Returns the schema of a parameter, or of a value in it. `nil` if the schema does not describe it.
    func schema(of path: [ParameterPath.Step]) -> JSONValue? {
        guard case .key(let name)? = path.first, var schema = parameters.first(where: { $0.name == name })?.schema else { return nil }
        for step in path.dropFirst() {
            let here = resolved(schema)
            let next: JSONValue? =
                switch step {
                case .key(let name): here["properties"]?[name] ?? here["additionalProperties"]
                case .index, .append: here["items"]
                }
            guard let next, next.object != nil else { return nil }
            schema = next
        }
        return schema
    }

    /// Follows `$ref`.
    func resolved(_ schema: JSONValue) -> JSONValue {
        guard let name = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
        return resolved(shared[String(name)] ?? [:])
    }

    /// Follows `$ref`, and returns the variant of a value with states.
    func resolved(_ schema: JSONValue, for value: JSONValue) -> JSONValue {
        let schema = resolved(schema)
        guard let name = schema["discriminator"]?["propertyName"]?.string else { return schema }
        let variants = (schema["oneOf"]?.array ?? []).map { resolved($0) }
        return variants.first { $0["properties"]?[name]?["const"] == value[name] } ?? [:]
    }

    /// Whether the value of a schema is a secret.
    func isSecret(_ schema: JSONValue) -> Bool {
        schema["secret"] == true || schema["$ref"] != nil && isSecret(shared[schema["$ref"]?.string?.split(separator: "/").last ?? ""])
    }

    /// Converts the text of `name=text`. Text that does not fit stays a string, so that the service reports the violation.
    func value(of text: String, at path: [ParameterPath.Step]) -> JSONValue {
        guard let value = try? JSONValue(parsing: text), value.object == nil, value.array == nil, value.string == nil else {
            return .string(text)
        }
        let schema = schema(of: path).map(resolved) ?? [:]
        switch (schema["type"]?.string, value) {
        case ("integer", .number), ("number", .number), ("boolean", .bool), ("null", .null): return value
        default: return .string(text)
        }
    }

    private func isSecret(_ schema: JSONValue?) -> Bool { schema.map { isSecret($0) } ?? false }
}

extension JSONObject {
    fileprivate subscript(_ name: Substring) -> JSONValue? { self[String(name)] }
}
