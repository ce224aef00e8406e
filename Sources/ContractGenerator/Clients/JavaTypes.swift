/// Converts types of the contract to Java, and to the expressions that read them from JSON.
struct JavaTypes {
    let contract: Contract

    /// A member of an object and its Java declaration.
    struct Member {
        let property: Property
        let name: String
        /// The name of the type that is defined inline, with the enclosing classes.
        let nested: String
    }

    /// Returns the members of an object. `path` contains the enclosing classes, outermost first.
    func members(_ object: ObjectType, within path: [String]) -> [Member] {
        members(object.properties, within: path, named: JavaNames.member)
    }

    func members(_ properties: [Property], within path: [String], named: (String) -> String) -> [Member] {
        properties.map { Member(property: $0, name: named($0.name), nested: JavaNames.nested($0.name, within: path)) }
    }

    /// Returns the type of an element or of a required value that is boxed.
    func boxed(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "Boolean"
        case .integer: "Long"
        case .string: "String"
        case .enumeration, .object: nested
        case .array(let element, _, _): "List<\(boxed(element, nested: nested))>"
        case .map(_, let values, _): "Map<String, \(boxed(values, nested: nested))>"
        case .anyObject: "Map<String, Object>"
        case .reference("Timestamp"): "Instant"
        case .reference(let name): boxed(contract.type(name)!.type, nested: SwiftNames.type(name))
        }
    }

    /// Returns the type of a parameter.
    func argument(_ member: Member) -> String {
        let type = boxed(member.property.type, nested: member.nested)
        return ["Boolean": "boolean", "Long": "long"][type] ?? type
    }

    /// Returns the return type of a getter. Absent lists and maps are empty; other members that may be absent are optional.
    func result(_ member: Member) -> String {
        let type = boxed(member.property.type, nested: member.nested)
        if member.property.isRequired { return argument(member) }
        if type.hasPrefix("List<") || type.hasPrefix("Map<") { return type }
        return type == "Long" ? "OptionalLong" : "Optional<\(type)>"
    }

    /// Returns the expression that reads a member of the object `json`.
    func read(_ member: Member) -> String {
        let wire = JavaNames.literal(member.property.name)
        func call(_ name: String, _ more: String = "") -> String {
            let verb = member.property.isRequired ? name : "optional" + name.prefix(1).uppercased() + name.dropFirst()
            return "json().\(verb)(\(wire)\(more))"
        }
        if case .reference("Timestamp") = member.property.type.shape { return call("time") }
        let (type, nested) = unwrapped(member.property.type, nested: member.nested)
        switch type.shape {
        case .boolean: return call("truth")
        case .integer: return call("number")
        case .string: return call("text")
        case .enumeration: return call("constant", ", \(nested).class")
        case .object(let object): return call("object", ", \(Self.reader(object, nested))")
        case .array(let element, _, _): return "json().list(\(wire), \(reader(element, nested: nested)))"
        case .map(_, let values, _): return "json().map(\(wire), \(reader(values, nested: nested)))"
        case .anyObject: return "json().free(\(wire))"
        case .reference: preconditionFailure("references are resolved")
        }
    }

    /// Returns the declaration and the expression of a getter for the text of an enumeration, or `nil` for other types.
    func textGetter(_ member: Member) -> (type: String, name: String, read: String)? {
        let wire = JavaNames.literal(member.property.name)
        switch contract.resolve(member.property.type).shape {
        case .enumeration:
            let isRequired = member.property.isRequired
            return (
                isRequired ? "String" : "Optional<String>", member.name + "AsString",
                "json().\(isRequired ? "text" : "optionalText")(\(wire))"
            )
        case .array(let element, _, _):
            guard case .enumeration = contract.resolve(element).shape else { return nil }
            return ("List<String>", member.name + "AsStrings", "json().list(\(wire), Read.STRING)")
        default: return nil
        }
    }

    /// Returns an expression of the type `Function<Object, …>` that reads a value.
    func reader(_ type: Type, nested: String) -> String {
        if case .reference("Timestamp") = type.shape { return "Read.INSTANT" }
        let (type, nested) = unwrapped(type, nested: nested)
        return switch type.shape {
        case .boolean: "Read.BOOLEAN"
        case .integer: "Read.LONG"
        case .string: "Read.STRING"
        case .enumeration: "Read.constant(\(nested).class)"
        case .object(let object): "Read.object(\(Self.reader(object, nested)))"
        case .array(let element, _, _): "Read.list(\(reader(element, nested: nested)))"
        case .map(_, let values, _): "Read.map(\(reader(values, nested: nested)))"
        case .anyObject: "Read.OBJECT"
        case .reference: preconditionFailure("references are resolved")
        }
    }

    /// Returns the function that creates an object of a class from JSON.
    static func reader(_ object: ObjectType, _ type: String) -> String { object.union == nil ? type + "::new" : type + "::of" }

    /// Follows references, with the name of the class of the target.
    func unwrapped(_ type: Type, nested: String) -> (Type, String) {
        guard case .reference(let name) = type.shape else { return (type, nested) }
        return unwrapped(contract.type(name)!.type, nested: SwiftNames.type(name))
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

    /// Returns the description of a member with its default. Times are not numbers in Java.
    func description(_ property: Property) -> String {
        contract.description(property, time: "The time.").replacing(", in seconds since 1970-01-01 UTC", with: "")
    }
}
