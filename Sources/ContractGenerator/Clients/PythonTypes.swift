import JSON

/// Converts types of the contract to Python annotations, and to the expressions that read them.
struct PythonTypes {
    /// The module that contains an annotation.
    enum Module { case types, testingTypes, other }

    let contract: Contract
    /// The names of all types in `types.py`. The other types are in `testing/types.py`.
    let production: Set<String>
    var module = Module.other

    /// Returns the name of a record or an enumeration in this module.
    func name(_ type: String) -> String {
        switch module {
        case .types: type
        case .testingTypes: production.contains(type) ? "types." + type : type
        case .other: production.contains(type) ? "types." + type : "testing_types." + type
        }
    }

    /// Returns the annotation of a parameter. `nested` is the name of a type that is defined inline.
    func parameter(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "int"
        case .string: "str"
        case .enumeration: name(nested)
        case .array(let element, _, _): "Sequence[\(parameter(element, nested: nested))]"
        case .object: "\(name(nested)) | Mapping[str, Any]"
        case .map(_, let values, _): "Mapping[str, \(parameter(values, nested: nested))]"
        case .anyObject: "Mapping[str, Any]"
        case .reference("Timestamp"): "datetime | int"
        case .reference(let name): parameter(contract.type(name)!.type, nested: name)
        }
    }

    /// Returns the annotation of a value in a result. Enumerations are open, because a newer program can return values that are unknown
    /// here.
    func result(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "int"
        case .string, .enumeration: "str"
        case .array(let element, _, _): "Sequence[\(result(element, nested: nested))]"
        case .object: name(nested)
        case .map(_, let values, _): "Mapping[str, \(result(values, nested: nested))]"
        case .anyObject: "Mapping[str, Any]"
        case .reference("Timestamp"): "datetime"
        case .reference(let name): result(contract.type(name)!.type, nested: name)
        }
    }

    /// Returns the function that reads a value, or `nil` if it is read as it is.
    func reader(_ type: Type, nested: String) -> String? {
        switch type.shape {
        case .reference("Timestamp"): "utc"
        case .reference(let name): reader(contract.type(name)!.type, nested: name)
        case .object(let object): object.union == nil ? name(nested) + "._of" : qualified(PythonNames.reader(nested), of: nested)
        case .array(let element, _, _): reader(element, nested: nested).map { "list_of(\($0))" }
        case .map(_, let values, _): reader(values, nested: nested).map { "map_of(\($0))" }
        case .boolean, .integer, .string, .enumeration, .anyObject: nil
        }
    }

    /// Returns the name of a function that belongs to `type`, in the module of that type.
    private func qualified(_ function: String, of type: String) -> String {
        String(name(type).dropLast(type.count)) + function
    }

    /// Returns the name of the class that reads a result, or of the function that reads it if it is a union.
    func readerName(of type: Type, nested: String) -> String? {
        guard let record = record(in: type, nested: nested) else { return nil }
        if case .object(let object)? = contract.type(record)?.type.shape, object.union != nil { return PythonNames.reader(record) }
        return record
    }

    /// Returns the record that a value contains: the value itself, its elements or its values.
    func record(in type: Type, nested: String) -> String? {
        switch type.shape {
        case .reference(let name): record(in: contract.type(name)!.type, nested: name)
        case .object: nested
        case .array(let element, _, _): record(in: element, nested: nested)
        case .map(_, let values, _): record(in: values, nested: nested)
        case .boolean, .integer, .string, .enumeration, .anyObject: nil
        }
    }

    /// Returns the description of a property, with its default. Times are `datetime`s, so their unit is omitted.
    func description(_ property: Property) -> String {
        var text = contract.description(property, time: "The time.")
        if case .reference("Timestamp") = property.type.shape { text = text.replacing(", in seconds since 1970-01-01 UTC", with: "") }
        return text.hasSuffix(".") ? text : text + "."
    }

    static func result(of method: Method) -> String { PythonNames.type(method.name) + "Result" }
}

/// The records and enumerations of the contract, including those that are defined inline.
struct PythonDefinitions {
    struct Record {
        let name: String
        let object: ObjectType
        let description: String
    }

    struct Enumeration {
        let name: String
        let values: [String]
        let description: String
    }

    private(set) var records: [Record] = []
    private(set) var enumerations: [Enumeration] = []

    var names: Set<String> { Set(records.map(\.name) + enumerations.map(\.name)) }

    /// Returns the definitions that production methods, errors and notifications use, and those that only testing methods use.
    static func all(in contract: Contract) -> (production: PythonDefinitions, testing: PythonDefinitions) {
        let methods = contract.methods.filter { !$0.isTesting }
        var reached = ReachableTypes(contract: contract)
        reached.add(resultsOf: methods)
        reached.add(paramsOf: methods)
        reached.addErrorsAndNotifications()
        var production = PythonDefinitions()
        var testing = PythonDefinitions()
        for type in contract.types {
            if reached.names.contains(type.name) { production.add(type.type, type.name) } else { testing.add(type.type, type.name) }
        }
        for method in contract.methods {
            if method.isTesting { testing.add(method) } else { production.add(method) }
        }
        for error in contract.errors {
            for property in error.data { production.add(property.type, PythonNames.type(error.type) + PythonNames.type(property.name)) }
        }
        production.sort()
        testing.sort()
        return (production, testing)
    }

    private mutating func sort() {
        records.sort { $0.name < $1.name }
        enumerations.sort { $0.name < $1.name }
    }

    private mutating func add(_ method: Method) {
        let name = PythonNames.type(method.name)
        for property in method.params.properties { add(property.type, name + PythonNames.type(property.name), property.description) }
        add(method.result, PythonTypes.result(of: method), "The result of `\(method.name)`.")
    }

    private mutating func add(_ type: Type, _ name: String, _ description: String = "") {
        let description = type.description ?? description
        switch type.shape {
        case .object(let object):
            records.append(Record(name: name, object: object, description: description.isEmpty ? "The object `\(name)`." : description))
            if let union = object.union { return add(union, name) }
            for property in object.properties { add(property.type, name + PythonNames.type(property.name), property.description) }
        case .enumeration(let values): enumerations.append(Enumeration(name: name, values: values, description: description))
        case .array(let element, _, _): add(element, name, description)
        case .map(_, let values, _): add(values, name, description)
        case .boolean, .integer, .string, .anyObject, .reference: break
        }
    }

    /// Adds a record for each variant. The members of a variant that have only one value need no enumeration.
    private mutating func add(_ union: Union, _ name: String) {
        for variant in union.variants {
            let own = name + PythonNames.type(variant.value)
            records.append(Record(name: own, object: variant.object, description: variant.description))
            for property in variant.object.properties where property.constant == nil {
                add(property.type, own + PythonNames.type(property.name), property.description)
            }
        }
    }

    /// Returns the records in an order in which each follows the records that it contains, and a union its variants.
    func ordered(_ types: PythonTypes) -> [Record] {
        let byName = Dictionary(uniqueKeysWithValues: records.map { ($0.name, $0) })
        var ordered: [Record] = []
        var visited: Set<String> = []
        func visit(_ record: Record) {
            guard visited.insert(record.name).inserted else { return }
            for variant in record.object.union?.variants ?? [] { visit(byName[record.name + PythonNames.type(variant.value)]!) }
            for property in record.object.properties {
                let inner = types.record(in: property.type, nested: record.name + PythonNames.type(property.name))
                if let inner, let found = byName[inner] { visit(found) }
            }
            ordered.append(record)
        }
        records.forEach(visit)
        return ordered
    }
}
