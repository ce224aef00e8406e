import JSON

/// Generates an object type as a Swift struct that can be read, written, or both.
struct StructEmitter {
    let types: SwiftTypes
    let object: ObjectType
    /// The prefix of the names of its string rules.
    let rule: String
    let reads: Bool
    let writes: Bool
    /// Whether values can be compared. Parameters and results of one method never are, and a comparison of all members is much code.
    var isEquatable = true

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
        let protocols =
            conformances ?? (reads ? ["ContractParams"] : []) + (writes ? ["ContractResult"] : []) + (isEquatable ? ["Equatable"] : [])
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
            source.block("public enum \(SwiftNames.type(choice.name)): Sendable\(isEquatable ? ", Equatable" : "")") { source in
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
            StructEmitter(
                types: types, object: inner, rule: rule + SwiftNames.type(name), reads: reads, writes: writes, isEquatable: isEquatable
            )
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

    // MARK: Reading

    private func reader(_ source: inout SwiftSource) {
        source.line()
        source.block("public init(_ reader: inout ParamsReader)") { source in
            for property in object.properties {
                let member = SwiftNames.member(property.name)
                let fallback = property.defaultValue.map { " ?? \(types.literal($0, of: property.type))" } ?? ""
                let value = types.read(property, rule: rule + SwiftNames.type(property.name)) + fallback
                let isChosen = exclusive.contains { $0.members.contains(property.name) }
                source.line(isChosen ? "let \(member): \(name(property))? = \(value)" : "\(member) = \(value)")
            }
            if object.isClosed || object.properties.isEmpty {
                source.line("reader.refuseOthers(than: \"\(object.properties.map(\.name).joined(separator: " "))\")")
            }
            for choice in object.choices { choose(choice, &source) }
            for choice in exclusive { make(choice, &source) }
        }
    }

    private func choose(_ choice: Choice, _ source: inout SwiftSource) {
        let range =
            switch choice.rule {
            case .exactlyOne: "1...1"
            case .atLeastOne: "1...Int.max"
            case .atMostOne: "0...1"
            }
        source.line("reader.choose(\"\(choice.rule.rawValue)\", \(range), \"\(choice.members.joined(separator: " "))\")")
    }

    private func make(_ choice: Choice, _ source: inout SwiftSource) {
        let member = SwiftNames.member(choice.name)
        for (index, name) in choice.members.map(SwiftNames.member).enumerated() {
            source.line("\(index == 0 ? "" : "} else ")if let \(name) {")
            source.line("    self.\(member) = .\(name)(\(name))")
        }
        source.line("} else {")
        let first = choice.members[0]
        let placeholder = ".\(SwiftNames.member(first))(\(types.placeholder(object.property(first)!.type)))"
        source.line("    self.\(member) = \(choice.rule == .atMostOne ? "nil" : placeholder)")
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
        let isOptional = !property.isRequired && property.defaultValue == nil
        if let value = types.scalar(property.type, member, isOptional: isOptional) {
            source.line("writer.member(\"\(property.name)\", \(value))")
        } else if isOptional {
            source.block("if let \(member)") { source in
                source.line("writer.key(\"\(property.name)\")")
                types.write(property.type, member, to: &source)
            }
        } else {
            source.line("writer.key(\"\(property.name)\")")
            types.write(property.type, member, to: &source)
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
