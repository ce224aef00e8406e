import JSON

/// Validates values against types. Used for examples and defaults.
struct InstanceValidator {
    let contract: Contract

    /// Returns a message with the position for each violation in `value`.
    func breaches(_ value: JSONValue, _ type: Type, at place: String) -> [String] {
        switch type.shape {
        case .reference(let name): return breaches(value, contract.type(name)!.type, at: place)
        case .boolean: return value.bool == nil ? ["\(place) must be true or false"] : []
        case .integer(let range): return value.int.map(range.contains) ?? false ? [] : ["\(place) must be an integer in \(range)"]
        case .enumeration(let values): return value.string.map(values.contains) ?? false ? [] : ["\(place) must be one of \(values)"]
        case .string(let rule): return string(value, rule, at: place)
        case .array(let element, let count, _):
            guard let elements = value.array, count.contains(elements.count) else { return ["\(place) must be an array of \(count)"] }
            return elements.enumerated().flatMap { breaches($1, element, at: "\(place)/\($0)") }
        case .map(let names, let values, let count):
            guard let object = value.object, count.contains(object.count) else { return ["\(place) must be an object of \(count) members"] }
            return object.members.flatMap { name, value in
                breaches(value, values, at: "\(place)/\(name)")
                    + (names.map { breaches(.string(name), $0, at: "the name \(place)/\(name)") } ?? [])
            }
        case .anyObject: return value.object == nil ? ["\(place) must be an object"] : []
        case .object(let object): return members(value, object, at: place)
        }
    }

    private func string(_ value: JSONValue, _ rule: StringRule, at place: String) -> [String] {
        guard let text = value.string else { return ["\(place) must be a string"] }
        var all = rule.length.contains(text.unicodeScalars.count) ? [] : ["\(place) must have \(rule.length) characters"]
        if let pattern = rule.pattern, let table = try? PatternTable(pattern), !table.matches(text) {
            all.append("\(place) must match \(pattern)")
        }
        return all
    }

    private func members(_ value: JSONValue, _ object: ObjectType, at place: String) -> [String] {
        guard let found = value.object else { return ["\(place) must be an object"] }
        if let union = object.union {
            let variant = union.variants.first { $0.value == found[union.discriminator]?.string }
            guard let variant else { return ["\(place)/\(union.discriminator) must be one of \(union.variants.map(\.value))"] }
            return members(value, variant.object, at: place)
        }
        var all = found.members.flatMap { name, value -> [String] in
            guard let property = object.property(name) else { return ["\(place)/\(name) is not described"] }
            return breaches(value, property.type, at: "\(place)/\(name)")
        }
        all += object.properties.filter { $0.isRequired && found[$0.name] == nil }.map { "\(place)/\($0.name) is missing" }
        for choice in object.choices {
            let given = choice.members.count { found[$0] != nil }
            let isKept = choice.rule == .exactlyOne ? given == 1 : choice.rule == .atLeastOne ? given > 0 : given < 2
            if !isKept { all.append("\(place) must have \(choice.rule.rawValue) of \(choice.members)") }
        }
        return all
    }
}
