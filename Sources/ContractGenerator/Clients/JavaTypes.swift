import JSON

/// How types of the contract are written in Java, and how they are read from JSON.
struct JavaTypes {
    let contract: Contract

    /// The type of a value that is there. `nested` names what is described inside an object.
    func expression(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "Boolean"
        case .integer: "Long"
        case .string: "String"
        case .enumeration, .object: nested
        case .array(let element, _, _): "List<\(expression(element, nested: nested))>"
        case .map(_, let values, _): "Map<String, \(expression(values, nested: nested))>"
        case .anyObject: "Map<String, Object>"
        case .reference("Timestamp"): "Instant"
        case .reference(let name): expression(contract.type(name)!.type, nested: "Types.\(SwiftNames.type(name))")
        }
    }

    /// The type of a member: plain where it is always there.
    func member(_ property: Property, nested: String) -> String {
        let boxed = expression(property.type, nested: nested)
        guard property.isRequired else { return boxed }
        return ["Boolean": "boolean", "Long": "long"][boxed] ?? boxed
    }

    /// What a builder takes.
    func argument(_ property: Property, nested: String) -> String {
        let boxed = expression(property.type, nested: nested)
        return ["Boolean": "boolean", "Long": "long"][boxed] ?? boxed
    }

    /// What reads a value: an expression of the type `Function<Object, …>`.
    func reader(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "Read.BOOLEAN"
        case .integer: "Read.LONG"
        case .string: "Read.STRING"
        case .enumeration: "Read.text(\(nested)::new)"
        case .object: "Read.object(\(nested)::of)"
        case .array(let element, _, _): "Read.list(\(reader(element, nested: nested)))"
        case .map(_, let values, _): "Read.map(\(reader(values, nested: nested)))"
        case .anyObject: "Read.OBJECT"
        case .reference("Timestamp"): "Read.INSTANT"
        case .reference(let name): reader(contract.type(name)!.type, nested: "Types.\(SwiftNames.type(name))")
        }
    }

    /// Whether anything may stand in it, which is the caller's own JSON.
    func isFree(_ type: Type) -> Bool {
        switch contract.resolve(type).shape {
        case .anyObject: true
        case .array(let element, _, _): isFree(element)
        case .map(_, let values, _): isFree(values)
        default: false
        }
    }

    /// What is said of a member, its default and when it is missing.
    func description(_ property: Property) -> String {
        let text = property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description
        let missing = property.defaultValue.map { " Defaults to \($0.text)." } ?? ""
        return (text.isEmpty ? property.name : text) + missing
    }
}
