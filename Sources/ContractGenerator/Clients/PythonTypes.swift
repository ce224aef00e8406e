import JSON

/// Converts types of the contract to Python annotations, and to the expressions that read them.
struct PythonTypes {
    let contract: Contract
    /// The prefix of records and enumerations: `types.` outside the module that defines them.
    var prefix = ""

    /// Returns the annotation of a parameter. `nested` is the name of a type that is defined inline.
    func parameter(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "int"
        case .string: "str"
        case .enumeration: prefix + nested
        case .array(let element, _, _): "Sequence[\(parameter(element, nested: nested))]"
        case .object: "Union[\(prefix)\(nested), Mapping[str, Any]]"
        case .map(_, let values, _): "Mapping[str, \(parameter(values, nested: nested))]"
        case .anyObject: "Mapping[str, Any]"
        case .reference(let name): parameter(contract.type(name)!.type, nested: name)
        }
    }

    /// Returns the annotation of a value in a result. Enumerations are open, because a newer binary can return values that are unknown
    /// here.
    func result(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "int"
        case .string, .enumeration: "str"
        case .array(let element, _, _): "List[\(result(element, nested: nested))]"
        case .object: prefix + nested
        case .map(_, let values, _): "Dict[str, \(result(values, nested: nested))]"
        case .anyObject: "Dict[str, Any]"
        case .reference(let name): result(contract.type(name)!.type, nested: name)
        }
    }

    /// Returns an expression of the type `result(type)` that converts `value`, which is `Any`.
    func read(_ type: Type, _ value: String, nested: String) -> String {
        switch type.shape {
        case .reference(let name): return read(contract.type(name)!.type, value, nested: name)
        case .object: return "\(prefix)\(nested).of(\(value))"
        case .array(let element, _, _) where holdsRecords(element):
            return "[\(read(element, "each", nested: nested)) for each in \(value)]"
        case .map(_, let values, _) where holdsRecords(values):
            return "{name: \(read(values, "each", nested: nested)) for name, each in \(value).items()}"
        default: return "cast(\(PythonNames.literal(result(type, nested: nested))), \(value))"
        }
    }

    /// Returns whether a value contains records and must be converted.
    func holdsRecords(_ type: Type) -> Bool {
        switch contract.resolve(type).shape {
        case .object: true
        case .array(let element, _, _): holdsRecords(element)
        case .map(_, let values, _): holdsRecords(values)
        default: false
        }
    }

    /// Returns the description of a property.
    func description(_ property: Property) -> String {
        let text = property.description.isEmpty ? contract.resolve(property.type).description ?? property.name : property.description
        return text.hasSuffix(".") ? text : text + "."
    }
}
