import JSON

/// How types of the contract are written in the Swift client, which takes what it does not know, unlike the server.
struct SwiftClientTypes {
    let contract: Contract

    /// The type of a value that is there. `nested` is the name of what is described inside an object.
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

    /// The type of a member, optional where it may be left out.
    func name(_ property: Property, nested: String) -> String {
        name(property.type, nested: nested) + (property.isRequired ? "" : "?")
    }

    /// What a method answers.
    func result(_ method: Method) -> String { name(method.result, nested: SwiftNames.type(method.name) + "Result") }

    /// `poolNotFound` as `PoolNotFoundError`.
    static func error(_ type: String) -> String { SwiftNames.type(type) + (type.hasSuffix("Error") ? "" : "Error") }

    /// What is said of a member, and its default.
    func description(_ property: Property) -> String {
        let text = property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description
        let missing = property.defaultValue.map { " Defaults to \($0.text)." } ?? ""
        return (text.isEmpty ? property.name : text) + missing
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
