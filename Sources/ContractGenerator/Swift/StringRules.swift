/// Generates the constraints on strings as constants of `StringRule`.
enum StringRules {
    /// Returns whether any string is valid.
    static func isTrivial(_ type: Type) -> Bool {
        if case .string(let rule) = type.shape { return rule.pattern == nil && rule.length == 0...Int.max && !type.isSecret }
        return false
    }

    /// Returns every constraint that is defined in `type` itself, not by reference, with the name of its constant.
    static func all(in type: Type, named name: String) -> [(name: String, type: Type, rule: StringRule)] {
        switch type.shape {
        case .string(let rule): return isTrivial(type) ? [] : [(name, type, rule)]
        case .array(let element, _, _): return all(in: element, named: name + "Element")
        case .map(let names, let values, _):
            return (names.map { all(in: $0, named: name + "Name") } ?? []) + all(in: values, named: name + "Value")
        case .object(let object): return all(in: object, named: name)
        case .boolean, .integer, .enumeration, .anyObject, .reference: return []
        }
    }

    static func all(in object: ObjectType, named name: String) -> [(name: String, type: Type, rule: StringRule)] {
        object.properties.flatMap { all(in: $0.type, named: name + SwiftNames.type($0.name)) }
    }

    /// Appends the constants, if any.
    static func write(_ rules: [(name: String, type: Type, rule: StringRule)], to source: inout SwiftSource) {
        guard !rules.isEmpty else { return }
        if !source.isEmpty { source.line() }
        source.block("extension StringRule") { source in
            for (name, type, rule) in rules {
                var parts: [String] = []
                if rule.length != 0...Int.max {
                    parts.append(
                        "length: \(rule.length.lowerBound)...\(rule.length.upperBound == .max ? "Int.max" : String(rule.length.upperBound))"
                    )
                }
                if let pattern = rule.pattern {
                    parts.append("pattern: \(literal(pattern, rule.patternDescription ?? ""))")
                }
                if type.isSecret { parts.append("isSecret: true") }
                source.line("static let \(name) = StringRule(\(parts.joined(separator: ", ")))")
            }
        }
    }

    private static func literal(_ pattern: String, _ description: String) -> String {
        guard let table = try? PatternTable(pattern) else { return "nil" }
        func digits(_ numbers: [Int]) -> String { "##\"\(PatternTable.digits(numbers))\"##" }
        return "StringPattern(description: \(SwiftNames.literal(description)), "
            + "transitions: \(digits(table.transitions)), accepts: \(digits(table.accepts.map { $0 ? 1 : 0 })))"
    }
}
