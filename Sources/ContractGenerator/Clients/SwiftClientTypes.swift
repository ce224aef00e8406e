import JSON

/// Converts types of the contract to the Swift client, which, unlike the server, accepts unknown members and values.
struct SwiftClientTypes {
    let contract: Contract

    /// Returns the type of a value that is present. `nested` is the name of a type that is defined inline.
    func name(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "Bool"
        case .integer: "Int"
        case .string: "String"
        case .enumeration, .object: SwiftNames.type(nested)
        case .array(let element, _, _): "[\(name(element, nested: nested))]"
        case .map(_, let values, _): "[String: \(name(values, nested: nested))]"
        case .anyObject: "JSONObject"
        case .reference("Timestamp"): "Timestamp"
        case .reference(let target): name(contract.type(target)!.type, nested: target)
        }
    }

    /// Returns the type of a member, which is optional if the member can be omitted.
    func name(_ property: Property, nested: String) -> String {
        name(property.type, nested: nested) + (property.isRequired ? "" : "?")
    }

    /// Returns the result type of a method.
    func result(_ method: Method) -> String { name(method.result, nested: SwiftNames.type(method.name) + "Result") }

    /// Returns the expression that reads a member. A reader that displays an object hides its secrets.
    func read(_ property: Property, from reader: String, isPassed: Bool = false) -> String {
        let secret = !isPassed && contract.isSecret(property.type) ? ", isSecret: true" : ""
        return "\(reader).\(property.isRequired ? "required" : "optional")(\"\(property.name)\"\(secret))"
    }

    /// Converts `poolNotFound` to `PoolNotFoundError`.
    static func error(_ type: String) -> String { SwiftNames.type(type) + (type.hasSuffix("Error") ? "" : "Error") }

    /// Returns the description of a member with its default.
    func description(_ property: Property) -> String {
        contract.description(property)
    }

    func sentence(_ choice: Choice) -> String {
        let names = choice.members.map { "`\($0)`" }.joined(separator: ", ")
        return switch choice.rule {
        case .exactlyOne: "Exactly one of \(names) is given."
        case .atLeastOne: "At least one of \(names) is given."
        case .atMostOne: "At most one of \(names) is given."
        }
    }
}
