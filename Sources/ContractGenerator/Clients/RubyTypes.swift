/// Converts types of the contract to Ruby: to RBS, to YARD tags and to the declarations of records.
struct RubyTypes {
    let contract: Contract

    // MARK: RBS

    /// Returns the RBS type of a parameter.
    func parameter(_ type: Type) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "Integer"
        case .string: "String"
        case .enumeration(let values): values.map(RubyNames.literal).joined(separator: " | ")
        case .array(let element, _, _): "Array[\(parameter(element))]"
        case .object, .anyObject: "json_object"
        case .map(_, let values, _): "Hash[String, \(parameter(values))] | Hash[Symbol, \(parameter(values))] | Record"
        case .reference("Timestamp"): "Time | Integer"
        case .reference(let name): parameter(contract.type(name)!.type)
        }
    }

    /// Returns the RBS type of a value in a result. Enumerations are open, because a newer program can return values that are unknown here.
    ///
    /// - Parameter nested: The name of an object that is defined inline.
    func result(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "Integer"
        case .string, .enumeration: "String"
        case .array(let element, _, _): "Array[\(result(element, nested: nested))]"
        case .object: nested
        case .map(_, let values, _): "Hash[String, \(result(values, nested: nested))]"
        case .anyObject: "Hash[String, untyped]"
        case .reference("Timestamp"): "Time"
        case .reference(let name): result(contract.type(name)!.type, nested: name)
        }
    }

    static func optional(_ type: String) -> String { type.contains(" | ") ? "(\(type))?" : "\(type)?" }

    // MARK: YARD

    /// Returns the YARD type of a parameter.
    func documented(_ type: Type) -> String {
        switch type.shape {
        case .boolean: "Boolean"
        case .integer: "Integer"
        case .string, .enumeration: "String"
        case .array(let element, _, _): "Array<\(documented(element))>"
        case .object, .anyObject, .map: "Hash"
        case .reference("Timestamp"): "Time"
        case .reference(let name): documented(contract.type(name)!.type)
        }
    }

    // MARK: Records

    /// Returns the conversion of a member in a record: `:time`, the name of a record, or a list or map of these. Returns `nil` if the JSON
    /// value needs no conversion.
    func conversion(_ type: Type, nested: String) -> String? {
        switch type.shape {
        case .reference("Timestamp"): ":time"
        case .reference(let name): conversion(contract.type(name)!.type, nested: name)
        case .object: ":" + nested
        case .array(let element, _, _): conversion(element, nested: nested).map { "[\($0)]" }
        case .map(_, let values, _): conversion(values, nested: nested).map { "{values: \($0)}" }
        case .boolean, .integer, .string, .enumeration, .anyObject: nil
        }
    }

    /// Returns the class of a method's result, or `nil` if the result is not an object with known members.
    func resultClass(of method: Method) -> String? {
        guard let conversion = conversion(method.result, nested: Self.result(of: method)), conversion.hasPrefix(":") else { return nil }
        return String(conversion.dropFirst())
    }

    static func result(of method: Method) -> String { SwiftNames.type(method.name) + "Result" }
}

/// A class of results: an object of the contract with a name in Ruby.
struct RubyRecord {
    let name: String
    let object: ObjectType
    let description: String
    /// The member with the items if the record is a page of a list.
    let items: Property?

    /// Returns the records that results, errors and notifications use: those of production methods, and those that only testing methods
    /// use.
    static func all(in contract: Contract) -> (production: [RubyRecord], testing: [RubyRecord]) {
        let methods = contract.methods.filter { !$0.isTesting }
        var production = ReachableTypes(contract: contract)
        production.add(resultsOf: methods)
        production.addErrorsAndNotifications()
        var all = ReachableTypes(contract: contract)
        all.add(resultsOf: contract.methods.filter(\.isTesting))
        let errors = contract.errors.flatMap { error in
            error.data.flatMap { inPlace($0.type, SwiftNames.type(error.type) + SwiftNames.type($0.name), $0.description) }
        }
        return (
            shared(production.names, contract) + results(methods, contract) + errors,
            shared(all.names.subtracting(production.names), contract) + results(contract.methods.filter(\.isTesting), contract)
        )
    }

    private static func shared(_ names: Set<String>, _ contract: Contract) -> [RubyRecord] {
        contract.types.filter { names.contains($0.name) }.flatMap { inPlace($0.type, $0.name, "") }
    }

    private static func results(_ methods: [Method], _ contract: Contract) -> [RubyRecord] {
        methods.flatMap {
            inPlace($0.result, RubyTypes.result(of: $0), "The result of `\($0.name)`.", items: contract.listedMember(of: $0))
        }
    }

    /// Returns the objects that are defined inline in this type, including elements of lists and maps and nested objects.
    private static func inPlace(_ type: Type, _ name: String, _ description: String, items: Property? = nil) -> [RubyRecord] {
        switch type.shape {
        case .object(let object):
            // The variants of a union are declared in its class.
            if let union = object.union {
                let inner = union.variants.flatMap { variant in
                    variant.object.properties.flatMap {
                        inPlace($0.type, name + SwiftNames.type(variant.value) + SwiftNames.type($0.name), $0.description)
                    }
                }
                return [RubyRecord(name: name, object: object, description: type.description ?? description, items: items)] + inner
            }
            let inner = object.properties.flatMap { inPlace($0.type, name + SwiftNames.type($0.name), $0.description) }
            return [RubyRecord(name: name, object: object, description: type.description ?? description, items: items)] + inner
        case .array(let element, _, _): return inPlace(element, name, description)
        case .map(_, let values, _): return inPlace(values, name, description)
        case .boolean, .integer, .string, .enumeration, .anyObject, .reference: return []
        }
    }
}
