import JSON

/// How types of the contract are written in Go.
struct GoTypes {
    let contract: Contract

    /// The type of a value that is there. `nested` names what is described inside an object.
    func expression(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "int64"
        case .string: "string"
        case .enumeration, .object: nested
        case .array(let element, _, _): "[]" + expression(element, nested: nested)
        case .map(_, let values, _): "map[string]" + expression(values, nested: nested)
        case .anyObject: "map[string]any"
        case .reference(let name): reference(name)
        }
    }

    /// Shared strings and whole numbers are written as such; the time is a type that the client's own files have.
    private func reference(_ name: String) -> String {
        if name == "Timestamp" { return name }
        let type = contract.type(name)!.type
        switch type.shape {
        case .boolean, .integer, .string, .reference, .array: return expression(type, nested: GoNames.exported(name))
        default: return GoNames.exported(name)
        }
    }

    /// What a struct is for: a method's parameters, an answer, or both.
    enum Purpose { case params, answer, both }

    /// A member of a struct. What may be left out is a pointer where its zero value means something else than nothing: in parameters `false` may
    /// be the default, in answers a text that is absent is an empty one.
    func field(_ property: Property, nested: String, in purpose: Purpose) -> String {
        let type = expression(property.type, nested: nested)
        let isPointer = !property.isRequired && zeroHasMeaning(property, purpose)
        let secret = contract.isSecret(property.type) ? " mintmark:\"secret\"" : ""
        let omit = property.isRequired ? "" : ",omitempty"
        return "\(GoNames.member(property.name)) \(isPointer ? "*" : "")\(type) `json:\"\(property.name)\(omit)\"\(secret)`"
    }

    private func zeroHasMeaning(_ property: Property, _ purpose: Purpose) -> Bool {
        switch contract.resolve(property.type).shape {
        case .boolean: if case .bool(false)? = property.defaultValue { purpose != .params } else { true }
        case .integer(let range): range.contains(0)
        case .string(let rule): rule.length.lowerBound == 0 && purpose != .answer
        case .object: true
        case .enumeration, .array, .map, .anyObject, .reference: false
        }
    }

    /// What is said of a member, its default and its limits.
    func description(_ property: Property) -> String {
        let text = property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description
        let missing = property.defaultValue.map { " Without it: \($0.text)." } ?? ""
        return (text.isEmpty ? property.name : text) + missing
    }
}
