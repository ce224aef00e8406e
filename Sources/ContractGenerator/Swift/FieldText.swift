import JSON

/// Describes a type as a short human-readable text.
struct FieldText {
    let contract: Contract

    func of(_ type: Type) -> String {
        switch type.shape {
        case .boolean: return "boolean"
        case .integer(let range):
            switch (range.lowerBound == .min, range.upperBound == .max) {
            case (true, true): return "integer"
            case (false, true): return "integer from \(range.lowerBound)"
            case (true, false): return "integer to \(range.upperBound)"
            case (false, false): return "integer \(range.lowerBound)–\(range.upperBound)"
            }
        case .string(let rule):
            let length =
                rule.length == 0...Int.max
                ? "" : " of \(rule.length.lowerBound)–\(rule.length.upperBound == .max ? "" : String(rule.length.upperBound)) characters"
            return "string" + length + (rule.patternDescription.map { ": \($0)" } ?? "")
        case .enumeration(let values): return values.joined(separator: " | ")
        case .array(let element, _, _): return "array of \(short(element))"
        case .object: return "object"
        case .map(_, let values, _): return "object of \(short(values))"
        case .anyObject: return "any object"
        case .reference(let name):
            let target = contract.type(name)!.type
            if case .object = target.shape { return name }
            return of(target)
        }
    }

    private func short(_ type: Type) -> String {
        if case .reference(let name) = type.shape { return name }
        if case .string = type.shape { return "string" }
        return of(type)
    }

    /// Returns what `FieldInfo.list` reads. As text, the fields cost the program and its compilation a sixth of what array literals cost.
    func json(_ properties: [Property]) -> JSONValue {
        .array(
            properties.map { property in
                let description = property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description
                return .array([
                    .string(property.name), .string(of(property.type)), .bool(property.isRequired),
                    property.defaultValue.map { .string($0.text) } ?? .null, .string(description),
                ])
            })
    }

    /// Returns the members of a result, or an empty array if it is not an object with known members.
    func members(_ type: Type) -> [Property] {
        if case .object(let object) = contract.resolve(type).shape { return object.properties }
        return []
    }
}
