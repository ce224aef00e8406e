import JSON

/// The type of a value: the subset of JSON Schema that the contract uses.
struct Type {
    /// A human-readable description. For a reference, the description at the place of the reference.
    let description: String?
    /// Whether the value must not be displayed in logs, violations or traces.
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
        /// An object with known members.
        case object(ObjectType)
        /// An object with arbitrary member names, whose values have one type.
        case map(names: Type?, values: Type, count: ClosedRange<Int>)
        /// Any object.
        case anyObject
        /// A shared type, by name.
        case reference(String)
    }
}

/// The constraints on a string. Lengths are in Unicode scalars.
struct StringRule: Hashable {
    let length: ClosedRange<Int>
    /// The pattern as written in the schema, anchored at both ends.
    let pattern: String?
    /// The pattern as a phrase that follows "must be".
    let patternDescription: String?
}

/// An object with known members.
struct ObjectType {
    /// The members. For a union, the members of all variants, of which those are required that every variant requires.
    let properties: [Property]
    /// Whether unknown members are rejected. Results are open, because later versions can add members.
    let isClosed: Bool
    /// The rules about combinations of members.
    let choices: [Choice]
    /// The variants, if the value of one member determines the other members.
    var union: Union?

    func property(_ name: String) -> Property? { properties.first { $0.name == name } }
}

/// A member of an object.
struct Property {
    let name: String
    let type: Type
    let isRequired: Bool
    let defaultValue: JSONValue?
    /// The description of the member, or that of its type if it has none.
    let description: String

    /// The only value of the member, or `nil` if it can have several.
    var constant: String? {
        if case .enumeration(let values) = type.shape, values.count == 1, isRequired { values[0] } else { nil }
    }
}

/// A rule about how many of several members must be present.
struct Choice {
    enum Rule: String, CaseIterable { case exactlyOne, atLeastOne, atMostOne }

    /// The name of the choice. Clients may use it as a name.
    let name: String
    let rule: Rule
    let members: [String]
}
