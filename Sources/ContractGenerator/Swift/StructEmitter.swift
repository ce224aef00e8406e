import JSON

/// Generates an object type as a Swift struct that can be read, written, or both.
struct StructEmitter {
    let types: SwiftTypes
    let object: ObjectType
    /// The prefix of the names of its string rules.
    let rule: String
    let reads: Bool
    let writes: Bool

    private var direction: SwiftTypes.Direction { reads ? .params : .result }

    /// A stored property, or a choice between several properties.
    private struct Member {
        let name: String
        let type: String
        let doc: String
        /// The default value in the initializer.
        let fallback: String?
    }

    private var exclusive: [Choice] { object.choices.filter { $0.rule != .atLeastOne } }

    private var members: [Member] {
        var done: Set<String> = []
        return object.properties.compactMap { property in
            if let choice = exclusive.first(where: { $0.members.contains(property.name) }) {
                guard done.insert(choice.name).inserted else { return nil }
                let type = SwiftNames.type(choice.name)
                return choice.rule == .exactlyOne
                    ? Member(name: SwiftNames.member(choice.name), type: type, doc: "Exactly one of these.", fallback: nil)
                    : Member(name: SwiftNames.member(choice.name), type: type + "?", doc: "At most one of these.", fallback: "nil")
            }
            let isOptional = !property.isRequired && property.defaultValue == nil
            return Member(
                name: SwiftNames.member(property.name), type: name(property) + (isOptional ? "?" : ""), doc: doc(property),
                fallback: isOptional ? "nil" : property.defaultValue.map { types.literal($0, of: property.type) })
        }
    }

    private func name(_ property: Property) -> String { types.name(property.type, nested: property.name, direction) }

    private func doc(_ property: Property) -> String {
        property.description.isEmpty ? types.contract.resolve(property.type).description ?? "" : property.description
    }

    /// - Parameter conformances: The protocols of the struct. Defaults to those for reading and writing.
    func emit(
        _ name: String, doc: String?, to source: inout SwiftSource, conformances: [String]? = nil,
        extra: (inout SwiftSource) -> Void = { _ in }
    ) {
        let protocols = conformances ?? ((reads ? ["ContractParams"] : []) + (writes ? ["ContractResult"] : []) + ["Equatable"])
        source.doc(doc)
        source.block("public struct \(name): \(protocols.joined(separator: ", "))") { source in
            nestedTypes(&source)
            for member in members {
                source.doc(member.doc)
                source.line("public var \(member.name): \(member.type)")
            }
            if !members.isEmpty { source.line() }
            initializer(&source)
            if reads { reader(&source) }
            if writes { writer(&source) }
            extra(&source)
        }
    }

    // MARK: Nested types

    private func nestedTypes(_ source: inout SwiftSource) {
        for property in object.properties { nestedType(property.type, named: property.name, doc: doc(property), &source) }
        for choice in exclusive {
            source.doc("Exactly one of \(choice.members.joined(separator: ", ")).")
            source.block("public enum \(SwiftNames.type(choice.name)): Sendable, Equatable") { source in
                for name in choice.members {
                    let property = object.property(name)!
                    source.doc(doc(property))
                    source.line("case \(SwiftNames.member(name))(\(self.name(property)))")
                }
            }
            source.line()
        }
    }

    private func nestedType(_ type: Type, named name: String, doc: String, _ source: inout SwiftSource) {
        switch type.shape {
        case .enumeration(let values):
            EnumEmitter(values: values).emit(SwiftNames.type(name), doc: doc, to: &source)
            source.line()
        case .object(let inner):
            StructEmitter(types: types, object: inner, rule: rule + SwiftNames.type(name), reads: reads, writes: writes)
                .emit(SwiftNames.type(name), doc: doc, to: &source)
            source.line()
        case .array(let element, _, _): nestedType(element, named: name, doc: doc, &source)
        case .map(_, let values, _): nestedType(values, named: name, doc: doc, &source)
        case .boolean, .integer, .string, .anyObject, .reference: break
        }
    }

    // MARK: Initializer

    private func initializer(_ source: inout SwiftSource) {
        let parameters = members.map { "\($0.name): \($0.type)" + ($0.fallback.map { " = \($0)" } ?? "") }
        source.block("public init(\(parameters.joined(separator: ", ")))") { source in
            for member in members { source.line("self.\(member.name) = \(member.name)") }
        }
    }

    private func reader(_ source: inout SwiftSource) {
        source.line()
        source.block("public init?(_ node: JSONNode, _ reader: inout ParamsReader)") { source in
            for property in object.properties { source.line("var \(SwiftNames.member(property.name)): \(name(property))?") }
            source.block("node.forEachPair { _name, _value in", isClosure: true) { source in
                for (index, property) in object.properties.enumerated() {
                    let expression = types.read(
                        property.type, from: "_value", at: "\"\(property.name)\"", rule: rule + SwiftNames.type(property.name))
                    source.line("\(index == 0 ? "" : "} else ")if _name.isString(\"\(property.name)\") {")
                    source.line("    \(SwiftNames.member(property.name)) = \(expression)")
                }
                if object.isClosed || object.properties.isEmpty {
                    let known = "[" + object.properties.map { "\"\($0.name)\"" }.joined(separator: ", ") + "]"
                    if object.properties.isEmpty {
                        source.line("reader.unknown(_name, among: [])")
                    } else {
                        source.line("} else {")
                        source.line("    reader.unknown(_name, among: \(known))")
                    }
                }
                if !object.properties.isEmpty { source.line("}") }
            }
            for choice in object.choices { choose(choice, &source) }
            let required = object.properties.filter(\.isRequired).map { ($0.name, SwiftNames.member($0.name)) }
            for (name, member) in required { source.line("if \(member) == nil { reader.missing(\"\(name)\", in: node) }") }
            for choice in exclusive { make(choice, &source) }
            if !required.isEmpty { source.line("guard \(required.map { "let \($0.1)" }.joined(separator: ", ")) else { return nil }") }
            for property in object.properties where !exclusive.contains(where: { $0.members.contains(property.name) }) {
                let member = SwiftNames.member(property.name)
                let fallback = property.defaultValue.map { " ?? \(types.literal($0, of: property.type))" } ?? ""
                source.line("self.\(member) = \(member)\(fallback)")
            }
            for choice in exclusive { source.line("self.\(SwiftNames.member(choice.name)) = \(SwiftNames.member(choice.name))") }
        }
    }

    private func choose(_ choice: Choice, _ source: inout SwiftSource) {
        let count = choice.members.map { "(node[\"\($0)\"] == nil ? 0 : 1)" }.joined(separator: " + ")
        let names = choice.members.map { "\"\($0)\"" }.joined(separator: ", ")
        let range =
            switch choice.rule {
            case .exactlyOne: "1...1"
            case .atLeastOne: "1...Int.max"
            case .atMostOne: "0...1"
            }
        source.line("reader.choose(\"\(choice.rule.rawValue)\", \(range), [\(names)], given: \(count))")
    }

    private func make(_ choice: Choice, _ source: inout SwiftSource) {
        let member = SwiftNames.member(choice.name)
        source.line("let \(member): \(SwiftNames.type(choice.name))\(choice.rule == .atMostOne ? "?" : "")")
        for (index, name) in choice.members.map(SwiftNames.member).enumerated() {
            source.line("\(index == 0 ? "" : "} else ")if let \(name) {")
            source.line("    \(member) = .\(name)(\(name))")
        }
        source.line("} else {")
        source.line(choice.rule == .atMostOne ? "    \(member) = nil" : "    return nil")
        source.line("}")
    }

    // MARK: Writing

    private func writer(_ source: inout SwiftSource) {
        source.line()
        source.block("public func write(to writer: inout JSONWriter)") { source in
            source.line("writer.beginObject()")
            writeMembers(&source)
            source.line("writer.endObject()")
        }
    }

    func writeMembers(_ source: inout SwiftSource) {
        for property in object.properties { writeMember(property, &source) }
    }

    func writeMember(_ property: Property, _ source: inout SwiftSource) {
        let member = SwiftNames.member(property.name)
        if property.isRequired || property.defaultValue != nil {
            source.line("writer.key(\"\(property.name)\")")
            types.write(property.type, member, to: &source)
        } else {
            source.block("if let \(member)") { source in
                source.line("writer.key(\"\(property.name)\")")
                types.write(property.type, member, to: &source)
            }
        }
    }
}

/// Generates an enumeration of strings.
struct EnumEmitter {
    let values: [String]

    func emit(_ name: String, doc: String?, to source: inout SwiftSource) {
        source.doc(doc)
        source.block("public enum \(name): String, Sendable, CaseIterable") { source in
            for value in values {
                let member = SwiftNames.member(value)
                source.line(SwiftNames.plainMember(value) == value ? "case \(member)" : "case \(member) = \"\(value)\"")
            }
        }
    }
}
