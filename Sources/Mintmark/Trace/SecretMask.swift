import Contract
import JSON

/// Takes secrets out of messages: what the contract marks as `secret`, and whatever it does not know. For one thread.
struct SecretMask {
    /// What stands in the place of a secret.
    static let hidden: JSONValue = "***"

    private let shared = OpenRPCDocument.sharedSchemas
    private let errors = OpenRPCDocument.errorDataSchemas
    /// The names of members that are secret anywhere: where no schema says what a member is, these are hidden.
    private let names: Set<String>
    private let methods: [String: MethodInfo]
    /// Method objects that were asked for.
    private var objects: [String: JSONValue] = [:]

    init() {
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
            guard let object = try? JSONValue(parsing: info.openRPC.description) else { continue }
            collect(object["params"] ?? .null)
            collect(object["result"] ?? .null)
        }
        self.names = names
    }

    /// Whether the contract has such a method.
    func knows(_ method: String) -> Bool { methods[method] != nil }

    /// The params of a method of the contract. What it does not take, such as a misspelt parameter, is hidden.
    mutating func params(_ value: JSONValue, of method: String) -> JSONValue {
        guard let given = value.object else { return hide(value) }
        let declared = object(method)["params"]?.array ?? []
        var masked = JSONObject()
        for (name, value) in given.members {
            let schema = declared.first { $0["name"]?.string == name }?["schema"]
            masked[name] = schema.map { mask(value, by: $0) } ?? hide(value)
        }
        return .object(masked)
    }

    /// The result of a method of the contract.
    mutating func result(_ value: JSONValue, of method: String) -> JSONValue { mask(value, by: object(method)["result"]?["schema"] ?? [:]) }

    /// The data of an error.
    func errorData(_ value: JSONValue) -> JSONValue {
        value["type"]?.string.flatMap { errors[$0] }.map { mask(value, by: $0) } ?? free(value)
    }

    /// A value that no schema describes.
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

    /// Nothing of a value but whether there is one.
    func hide(_ value: JSONValue) -> JSONValue { value.isNull ? .null : Self.hidden }

    private func mask(_ value: JSONValue, by schema: JSONValue) -> JSONValue {
        if Self.isSecret(schema, shared) { return hide(value) }
        let schema = Self.target(schema, shared)
        switch value {
        case .object(let object):
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
        case .array(let elements): return .array(elements.map { element in schema["items"].map { mask(element, by: $0) } ?? free(element) })
        default: return value
        }
    }

    private mutating func object(_ method: String) -> JSONValue {
        if let known = objects[method] { return known }
        let object = methods[method].flatMap { try? JSONValue(parsing: $0.openRPC.description) } ?? [:]
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
