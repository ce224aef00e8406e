import JSON

/// The shape of a request member, as in the service model. Requests are validated against it first, because clients of the service
/// recognize its validation messages.
indirect enum WireShape: Sendable {
    case text(WireText)
    case integer(ClosedRange<Int64>)
    case boolean
    case oneOf([String])
    case list(of: WireShape, ClosedRange<Int>)
    case map(WireText, to: WireShape, ClosedRange<Int>)
    case structure([WireMember])

    static func texts(_ length: ClosedRange<Int>, _ pattern: WirePattern? = nil) -> WireShape {
        .text(WireText(length: length, pattern: pattern))
    }
}

/// A member of a structure.
struct WireMember: Sendable {
    let name: String
    let shape: WireShape
    let isRequired: Bool

    static func required(_ name: String, _ shape: WireShape) -> WireMember { WireMember(name: name, shape: shape, isRequired: true) }
    static func optional(_ name: String, _ shape: WireShape) -> WireMember { WireMember(name: name, shape: shape, isRequired: false) }
}

/// Validates a request against its shape.
struct WireValidator {
    private var found: [String] = []

    /// Returns the known members of `input`, without nulls. Unknown members are ignored.
    ///
    /// - Throws: `WireError` with `SerializationException` if a value has the wrong type, otherwise with `code` and all violations.
    static func members(_ input: JSONObject, of shape: [WireMember], code: String = "ValidationException") throws -> JSONObject {
        var validator = WireValidator()
        let members = try validator.structure(input, shape, at: "")
        let count = validator.found.count
        guard count > 0 else { return members }
        throw WireError(code, "\(count) validation error\(count == 1 ? "" : "s") detected: \(validator.found.joined(separator: "; "))")
    }

    private mutating func structure(_ input: JSONObject, _ shape: [WireMember], at place: String) throws -> JSONObject {
        var members = JSONObject()
        for member in shape {
            let name = place + Self.lowered(member.name)
            guard let value = input[member.name], !value.isNull else {
                if member.isRequired { add("Value null", name, "Member must not be null") }
                continue
            }
            members[member.name] = try read(value, member.shape, at: name)
        }
        return members
    }

    private mutating func read(_ value: JSONValue, _ shape: WireShape, at place: String) throws -> JSONValue {
        switch shape {
        case .text(let rule):
            guard let text = value.string else { throw mismatch(value, "String") }
            let shown = rule.isSecret ? "Value" : "Value '\(text)'"
            for breach in rule.breaches(of: text) { add(shown, place, breach) }
        case .integer(let range):
            guard let number = value.int else { throw mismatch(value, "Integer") }
            if number > range.upperBound {
                add("Value '\(number)'", place, "Member must have value less than or equal to \(range.upperBound)")
            }
            if number < range.lowerBound {
                add("Value '\(number)'", place, "Member must have value greater than or equal to \(range.lowerBound)")
            }
        case .boolean: if value.bool == nil { throw mismatch(value, "Boolean") }
        case .oneOf(let known):
            guard let text = value.string else { throw mismatch(value, "String") }
            if !known.contains(text) {
                add("Value '\(text)'", place, "Member must satisfy enum value set: [\(known.joined(separator: ", "))]")
            }
        case .list(let element, let count):
            guard let elements = value.array else { throw mismatch(value, "List") }
            check(elements.count, count, elements.compactMap(\.string), at: place)
            return .array(try list(elements, element, at: place))
        case .map(let keys, let values, let count):
            guard let object = value.object else { throw mismatch(value, "Map") }
            check(object.count, count, object.names, at: place)
            return .object(try map(object, keys, values, at: place))
        case .structure(let shape):
            guard let object = value.object else { throw mismatch(value, "Structure") }
            return .object(try structure(object, shape, at: place + "."))
        }
        return value
    }

    private mutating func list(_ elements: [JSONValue], _ shape: WireShape, at place: String) throws -> [JSONValue] {
        let elements = elements.filter { !$0.isNull }
        guard case .text(let rule) = shape else {
            return try elements.enumerated().map { try read($1, shape, at: "\(place).\($0 + 1).member") }
        }
        let texts = try elements.map { value in
            guard let text = value.string else { throw mismatch(value, "String") }
            return text
        }
        if texts.contains(where: { !rule.breaches(of: $0).isEmpty }) {
            add("Value '[\(texts.joined(separator: ", "))]'", place, "Member must satisfy constraint: \(rule.constraints)")
        }
        return elements
    }

    private mutating func map(_ object: JSONObject, _ keys: WireText, _ shape: WireShape, at place: String) throws -> JSONObject {
        let members = object.members.filter { !$0.value.isNull }
        if members.contains(where: { !keys.breaches(of: $0.name).isEmpty }) {
            add("Value", place, "Map keys must satisfy constraint: \(keys.constraints)")
        }
        var read = JSONObject()
        for (name, value) in members {
            guard case .text(let rule) = shape else {
                read[name] = try self.read(value, shape, at: "\(place).\(name).member")
                continue
            }
            guard let text = value.string else { throw mismatch(value, "String") }
            if !rule.breaches(of: text).isEmpty { add("Value", place, "Map value must satisfy constraint: \(rule.constraints)") }
            read[name] = value
        }
        return read
    }

    private mutating func check(_ found: Int, _ count: ClosedRange<Int>, _ names: [String], at place: String) {
        let shown = "Value '[\(names.joined(separator: ", "))]'"
        if found > count.upperBound { add(shown, place, "Member must have length less than or equal to \(count.upperBound)") }
        if found < count.lowerBound { add(shown, place, "Member must have length greater than or equal to \(count.lowerBound)") }
    }

    private mutating func add(_ value: String, _ place: String, _ constraint: String) {
        found.append("\(value) at '\(place)' failed to satisfy constraint: \(constraint)")
    }

    private func mismatch(_ value: JSONValue, _ wanted: String) -> WireError {
        let kind =
            switch value {
            case .null: "NULL_VALUE"
            case .bool(let bool): bool ? "TRUE_VALUE" : "FALSE_VALUE"
            case .number: "NUMBER_VALUE"
            case .string: "STRING_VALUE"
            case .array: "START_ARRAY"
            case .object: "START_OBJECT"
            }
        return WireError("SerializationException", "\(kind) can not be converted to \(wanted)")
    }

    /// Returns the name of a member as in messages: `identityPoolId` for `IdentityPoolId`.
    private static func lowered(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}
