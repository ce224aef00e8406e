import JSON

/// Converts types of the contract to Swift: to names, and to the code that reads and writes values.
struct SwiftTypes {
    let contract: Contract

    /// Whether values are read or written. An object with arbitrary members is parsed when read and copied unchanged when written.
    enum Direction { case params, result }

    /// Returns the name of a type. `nested` is its name if it is defined inline.
    func name(_ type: Type, nested: String, _ direction: Direction) -> String {
        switch type.shape {
        case .boolean: return "Bool"
        case .integer: return "Int64"
        case .string: return "String"
        case .enumeration, .object: return SwiftNames.type(nested)
        case .array(let element, _, _): return "[\(name(element, nested: nested, direction))]"
        case .map(_, let values, _): return "Members<\(name(values, nested: nested, direction))>"
        case .anyObject: return direction == .params ? "JSONObject" : "EncodedObject"
        case .reference(let target): return name(contract.type(target)!.type, nested: target, direction)
        }
    }

    // MARK: Reading

    /// Returns an expression that reads a property: a value or its placeholder if it is required, an optional otherwise.
    ///
    /// - Parameter rule: The prefix of the type's string rules; see `StringRules`.
    func read(_ property: Property, rule: String) -> String {
        read(property.type, from: property.isRequired ? "\"\(property.name)\"" : "ifPresent: \"\(property.name)\"", rule: rule)
    }

    /// Returns an expression that reads `type`.
    ///
    /// - Parameter source: The first arguments of the function of `ParamsReader`: the name of a member, or a node and its step.
    private func read(_ type: Type, from source: String, rule: String) -> String {
        switch type.shape {
        case .boolean: return "reader.boolean(\(source))"
        case .integer(let range): return "reader.integer(\(source), \(text(range)))"
        case .string: return "reader.string(\(source), .\(StringRules.isTrivial(type) ? "any" : rule))"
        case .enumeration: return "reader.enumeration(\(source))"
        case .array(let element, let count, let isUnique):
            return "reader.array(\(source), count: \(text(count)), isUnique: \(isUnique)) { reader, value, step in "
                + read(element, from: "value, at: step", rule: rule + "Element") + " }"
        case .map(let names, let values, let count):
            return "reader.map(\(source), count: \(text(count)), names: \(nameRule(names, rule: rule))) { reader, value, step in "
                + read(values, from: "value, at: step", rule: rule + "Value") + " }"
        case .object: return "reader.object(\(source))"
        case .anyObject: return "reader.anyObject(\(source))"
        case .reference(let name): return read(contract.type(name)!.type, from: source, rule: SwiftNames.lowered(name))
        }
    }

    /// Returns the value that stands for a missing one.
    func placeholder(_ type: Type) -> String {
        switch type.shape {
        case .boolean: "false"
        case .integer: "0"
        case .string: "\"\""
        case .array: "[]"
        case .map: "[:]"
        case .anyObject: "JSONObject()"
        case .enumeration, .object: "ParamsReader.placeholder()"
        case .reference(let name): placeholder(contract.type(name)!.type)
        }
    }

    private func nameRule(_ names: Type?, rule: String) -> String {
        guard let names else { return "nil" }
        if case .reference(let name) = names.shape { return ".\(SwiftNames.lowered(name))" }
        return StringRules.isTrivial(names) ? "nil" : ".\(rule)Name"
    }

    private func text(_ range: ClosedRange<Int64>) -> String {
        "\(range.lowerBound == .min ? "Int64.min" : String(range.lowerBound))...\(range.upperBound == .max ? "Int64.max" : String(range.upperBound))"
    }

    private func text(_ count: ClosedRange<Int>) -> String {
        "\(count.lowerBound)...\(count.upperBound == .max ? "Int.max" : String(count.upperBound))"
    }

    /// Returns a literal of a default value.
    func literal(_ value: JSONValue, of type: Type) -> String {
        if case .enumeration = contract.resolve(type).shape { return ".\(SwiftNames.member(value.string ?? ""))" }
        return value.string.map(SwiftNames.literal) ?? value.text
    }

    // MARK: Writing

    /// Returns the argument for `JSONWriter.member`, or `nil` if `type` has parts.
    func scalar(_ type: Type, _ expression: String, isOptional: Bool) -> String? {
        switch type.shape {
        case .boolean, .integer, .string: expression
        case .enumeration: "\(expression)\(isOptional ? "?" : "").rawValue"
        case .array, .map, .object, .anyObject: nil
        case .reference(let name): scalar(contract.type(name)!.type, expression, isOptional: isOptional)
        }
    }

    /// Appends statements that write `expression`, a value of `type`.
    func write(_ type: Type, _ expression: String, to source: inout SwiftSource) {
        switch type.shape {
        case .boolean: source.line("writer.bool(\(expression))")
        case .integer: source.line("writer.int(\(expression))")
        case .string: source.line("writer.string(\(expression))")
        case .enumeration: source.line("writer.string(\(expression).rawValue)")
        case .array(let element, _, _):
            source.line("writer.beginArray()")
            source.block("for element in \(expression)") { write(element, "element", to: &$0) }
            source.line("writer.endArray()")
        case .map(_, let values, _):
            source.line("writer.beginObject()")
            source.block("for member in \(expression)") {
                $0.line("writer.key(member.name)")
                write(values, "member.value", to: &$0)
            }
            source.line("writer.endObject()")
        case .object, .anyObject: source.line("\(expression).write(to: &writer)")
        case .reference(let name): write(contract.type(name)!.type, expression, to: &source)
        }
    }
}
