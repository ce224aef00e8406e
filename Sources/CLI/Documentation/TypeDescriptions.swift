import Contract
import JSON

/// Describes the types that methods share.
struct TypeDescriptions {
    private let schemas = OpenRPCDocument.sharedSchemas

    /// The names of all types.
    var names: [String] { schemas.members.map(\.name) }

    /// Returns the schema of a type, or `nil` if the type does not exist.
    func schema(_ name: String) -> JSONValue? { schemas[name] }

    /// Returns the names of the object types to which the schemas refer, directly or indirectly, in the order of their first occurrence.
    func named(in roots: [JSONValue]) -> [String] {
        var found: [String] = []
        for root in roots { collect(root, &found) }
        return found.filter { members($0) != nil || variants($0) != nil }
    }

    /// Prints a type with its members.
    func describe(_ name: String) throws {
        let schema = schemas[name] ?? .null
        try Printing.out("\(Printing.bold(name))  \(Printing.dim(text(of: schema, isShort: false)))")
        if let description = schema["description"]?.string { try Printing.out("  \(description)") }
        let required = schema["required"]?.array ?? []
        for member in members(name) ?? [] {
            let need = required.contains(.string(member.name)) ? "required" : "optional"
            try Printing.out("  \(Printing.cyan(member.name))  \(Printing.dim("\(text(of: member.value, isShort: true)), \(need)"))")
            if let description = (member.value["description"] ?? target(of: member.value)?.schema["description"])?.string {
                try Printing.out("      \(description)")
            }
        }
        try Printing.out("")
    }

    func members(_ name: String) -> [(name: String, value: JSONValue)]? { schemas[name]?["properties"]?.object?.members }

    /// Returns the types of the variants, if the value of one member determines the type of an object.
    func variants(_ name: String) -> [JSONValue]? { schemas[name]?["oneOf"]?.array }

    private func collect(_ value: JSONValue, _ found: inout [String]) {
        switch value {
        case .array(let elements): for element in elements { collect(element, &found) }
        case .object(let object):
            if let target = target(of: value), !found.contains(target.name) {
                found.append(target.name)
                collect(target.schema, &found)
            }
            for member in object.members { collect(member.value, &found) }
        default: break
        }
    }

    func target(of value: JSONValue) -> (name: String, schema: JSONValue)? {
        guard let reference = value["$ref"]?.string, let slash = reference.lastIndex(of: "/") else { return nil }
        let name = String(reference[reference.index(after: slash)...])
        return schemas[name].map { (name, $0) }
    }

    /// Returns a short description of a value's type.
    func text(of schema: JSONValue, isShort: Bool) -> String {
        if let target = target(of: schema) {
            let isNamed = members(target.name) != nil || variants(target.name) != nil
            return isNamed ? target.name : text(of: target.schema, isShort: isShort)
        }
        if let value = schema["const"]?.string { return value }
        if let variants = schema["oneOf"]?.array {
            let names = variants.map { text(of: $0, isShort: true) }.joined(separator: " | ")
            return names + (schema["discriminator"]?["propertyName"]?.string.map { ", by \($0)" } ?? "")
        }
        if let values = schema["enum"]?.array { return values.map { $0.string ?? $0.text }.joined(separator: " | ") }
        switch schema["type"]?.string {
        case "array": return "array of \(text(of: schema["items"] ?? [:], isShort: true))"
        case "object" where schema["properties"] == nil:
            guard let values = schema["additionalProperties"], values["type"] != nil || values["$ref"] != nil else { return "any object" }
            return "object of \(text(of: values, isShort: true))"
        case let type?: return type + (isShort ? "" : schema["patternDescription"]?.string.map { ": \($0)" } ?? "")
        case nil: return "any value"
        }
    }
}
