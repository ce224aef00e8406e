import JSON

/// What a value may be: the part of JSON Schema that the contract speaks.
struct Type {
    /// For people; of a reference, what is said where it stands.
    let description: String?
    /// Never to be shown: not in logs, violations or traces.
    let isSecret: Bool
    let shape: Shape

    var isArray: Bool { if case .array = shape { true } else { false } }

    indirect enum Shape {
        case boolean
        case integer(ClosedRange<Int64>)
        case string(StringRule)
        /// One of these strings.
        case enumeration([String])
        case array(of: Type, count: ClosedRange<Int>, isUnique: Bool)
        /// Known members.
        case object(ObjectType)
        /// Free names, all values of one type.
        case map(names: Type?, values: Type, count: ClosedRange<Int>)
        /// Any object at all.
        case anyObject
        /// A shared type, by its name.
        case reference(String)
    }
}

/// What a string must be like. Lengths count Unicode scalars.
struct StringRule: Hashable {
    let length: ClosedRange<Int>
    /// As the schema writes it, anchored at both ends.
    let pattern: String?
    /// The pattern in words that complete "must be".
    let patternDescription: String?
}

/// An object with known members.
struct ObjectType {
    let properties: [Property]
    /// Whether other members are refused. Results are open: they may get more members later.
    let isClosed: Bool
    /// Rules over several members.
    let choices: [Choice]

    func property(_ name: String) -> Property? { properties.first { $0.name == name } }
}

/// A member of an object.
struct Property {
    let name: String
    let type: Type
    let isRequired: Bool
    let defaultValue: JSONValue?
    /// What is said of it here, else what its type says of itself.
    let description: String
}

/// Members of which some number must be there.
struct Choice {
    enum Rule: String, CaseIterable { case exactlyOne, atLeastOne, atMostOne }

    /// What is chosen; clients may use it as a name.
    let name: String
    let rule: Rule
    let members: [String]
}
