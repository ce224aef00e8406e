import Contract
import JSON

/// Removes secrets from messages: values that the contract marks as `secret`, and all values that are not in the contract. Not thread-safe.
public struct SecretMask {
    /// The replacement for a secret.
    static let hidden: JSONValue = "***"

    private let shared = OpenRPCDocument.sharedSchemas
    private let errors = OpenRPCDocument.errorDataSchemas
    /// The names of all secret members. Members with these names are hidden where no schema applies.
    private let names: Set<String>
    private let methods: [String: MethodInfo]
    /// A cache of method objects.
    private var objects: [String: JSONValue] = [:]

    public init() {
        methods = Dictionary(uniqueKeysWithValues: Contract.MethodTable.all.map { ($0.name, $0) })
        var names: Set<String> = []
        let schemas = shared
        func collect(_ value: JSONValue) {
            switch value {
            case .object(let object):
                for (name, schema) in object["properties"]?.object?.members ?? [] where Self.isSecret(schema, schemas) {
                    names.insert(name)
                }
                if let name = object["name"]?.string, let schema = object["schema"], Self.isSecret(schema, schemas) { names.insert(name) }
                for member in object.members { collect(member.value) }
            case .array(let elements): for element in elements { collect(element) }
            default: break
            }
        }
        collect(.object(shared))
        for info in Contract.MethodTable.all {
            guard let object = try? JSONValue(parsing: info.openRPC) else { continue }
            collect(object["params"] ?? .null)
            collect(object["result"] ?? .null)
        }
        self.names = names
    }

    /// Returns whether the contract has this method.
    func knows(_ method: String) -> Bool { methods[method] != nil }

    /// Masks the params of a contract method. Unknown members, such as misspelled parameters, are hidden.
    public mutating func params(_ value: JSONValue, of method: String) -> JSONValue {
        guard let given = value.object else { return hide(value) }
        let declared = object(method)["params"]?.array ?? []
        var masked = JSONObject()
        for (name, value) in given.members {
            let schema = declared.first { $0["name"]?.string == name }?["schema"]
            masked[name] = schema.map { mask(value, by: $0) } ?? hide(value)
        }
        return .object(masked)
    }

    /// Masks the result of a contract method.
    public mutating func result(_ value: JSONValue, of method: String) -> JSONValue {
        mask(value, by: object(method)["result"]?["schema"] ?? [:])
    }

    /// Masks the data of an error.
    public func errorData(_ value: JSONValue) -> JSONValue {
        value["type"]?.string.flatMap { errors[$0] }.map { mask(value, by: $0) } ?? free(value)
    }

    /// Masks a value without a schema.
    func free(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            var masked = JSONObject()
            for (name, value) in object.members { masked[name] = names.contains(name) ? hide(value) : free(value) }
            return .object(masked)
        case .array(let elements): return .array(elements.map { free($0) })
        default: return value
        }
    }

    /// Hides a value, but keeps `null`.
    func hide(_ value: JSONValue) -> JSONValue { value.isNull ? .null : Self.hidden }

    private func mask(_ value: JSONValue, by schema: JSONValue) -> JSONValue {
        if Self.isSecret(schema, shared) { return hide(value) }
        let target = Self.target(schema, shared)
        switch value {
        case .object(let object):
            let schema = variant(of: target, for: object)
            var masked = JSONObject()
            for (name, value) in object.members {
                let others = schema["additionalProperties"]
                if let member = schema["properties"]?[name] {
                    masked[name] = mask(value, by: member)
                } else if let others, others.object != nil {
                    masked[name] = mask(value, by: others)
                } else {
                    let isUnknown = schema["properties"] != nil || others == false || names.contains(name)
                    masked[name] = isUnknown ? hide(value) : free(value)
                }
            }
            return .object(masked)
        case .array(let elements): return .array(elements.map { element in target["items"].map { mask(element, by: $0) } ?? free(element) })
        default: return value
        }
    }

    /// Returns the schema of the variant that `object` is, for a schema with variants. All members of an unknown variant are unknown.
    private func variant(of schema: JSONValue, for object: JSONObject) -> JSONValue {
        guard let discriminator = schema["discriminator"] else { return schema }
        let value = discriminator["propertyName"]?.string.flatMap { object[$0]?.string } ?? ""
        guard let reference = discriminator["mapping"]?[value] else { return ["properties": [:]] }
        return Self.target(["$ref": reference], shared)
    }

    private mutating func object(_ method: String) -> JSONValue {
        if let known = objects[method] { return known }
        let object = methods[method].flatMap { try? JSONValue(parsing: $0.openRPC) } ?? [:]
        objects[method] = object
        return object
    }

    private static func isSecret(_ schema: JSONValue, _ shared: JSONObject) -> Bool {
        schema["secret"] == true || schema["$ref"] != nil && isSecret(target(schema, shared), shared)
    }

    private static func target(_ schema: JSONValue, _ shared: JSONObject) -> JSONValue {
        guard let name = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
        return target(shared[String(name)] ?? [:], shared)
    }
}
