import JSON

/// Converts types of the contract to Java, and to the expressions that read them from JSON.
struct JavaTypes {
    let contract: Contract

    /// Returns the type of a value that is present. `nested` is the name of a type that is defined inline.
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

    /// Returns the type of a member. A required member has a primitive type where possible.
    func member(_ property: Property, nested: String) -> String {
        let boxed = expression(property.type, nested: nested)
        guard property.isRequired else { return boxed }
        return ["Boolean": "boolean", "Long": "long"][boxed] ?? boxed
    }

    /// Returns the parameter type of a builder method.
    func argument(_ property: Property, nested: String) -> String {
        let boxed = expression(property.type, nested: nested)
        return ["Boolean": "boolean", "Long": "long"][boxed] ?? boxed
    }

    /// Returns an expression of the type `Function<Object, …>` that reads a value.
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

    /// Returns whether a value can contain arbitrary JSON of the caller.
    func isFree(_ type: Type) -> Bool {
        switch contract.resolve(type).shape {
        case .anyObject: true
        case .array(let element, _, _): isFree(element)
        case .map(_, let values, _): isFree(values)
        default: false
        }
    }

    /// Returns the description of a member with its default.
    func description(_ property: Property) -> String {
        let text = property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description
        let missing = property.defaultValue.map { " Defaults to \($0.text)." } ?? ""
        return (text.isEmpty ? property.name : text) + missing
    }
}
