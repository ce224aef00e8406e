import JSON

/// Converts types of the contract to TypeScript.
///
/// Parameters are typed exactly. Results can gain values in later versions, so their enumerations are `Open`, which includes unknown
/// values.
struct NodeTypes {
    let contract: Contract

    /// Whether values are parameters or results. A shared closed object type is typed exactly in both directions.
    enum Direction { case params, result }

    // MARK: Expressions

    /// Returns the TypeScript expression of `type`.
    func expression(_ type: Type, _ direction: Direction) -> String {
        switch type.shape {
        case .boolean: return "boolean"
        case .integer: return "number"
        case .string: return "string"
        case .enumeration(let values): return open(values.map(NodeSource.literal).joined(separator: " | "), direction)
        case .array(let element, _, _): return array(expression(element, direction), direction)
        case .map(_, let values, _): return "{ [name: string]: \(expression(values, direction)) }"
        case .anyObject: return "JsonObject"
        case .object(let object): return inline(object, direction)
        case .reference(let name):
            if case .enumeration? = contract.type(name)?.type.shape { return open(name, direction) }
            return name
        }
    }

    private func open(_ values: String, _ direction: Direction) -> String { direction == .params ? values : "Open<\(values)>" }

    private func array(_ element: String, _ direction: Direction) -> String {
        let simple = element.allSatisfy { $0.isLetter || $0.isNumber }
        return (direction == .params ? "readonly " : "") + (simple ? element : "(\(element))") + "[]"
    }

    private func inline(_ object: ObjectType, _ direction: Direction) -> String {
        let members = object.properties.map { "\(member($0, direction));" }
        return members.isEmpty ? "Record<string, never>" : "{ \(members.joined(separator: " ")) }"
    }

    /// Returns a member of an object type, without its terminator.
    func member(_ property: Property, _ direction: Direction) -> String {
        if direction == .result, let value = property.constant {
            return "\(NodeSource.member(property.name)): \(NodeSource.literal(value))"
        }
        return "\(NodeSource.member(property.name))\(property.isRequired ? "" : "?"): \(expression(property.type, direction))"
    }

    // MARK: Declarations

    /// Declares `name` as an interface, or as a type if members exclude each other or the object has no members. Choices among the members
    /// of an unnamed object are not typed; Mintmark checks them.
    func declare(_ name: String, _ type: Type, _ direction: Direction, doc: String, to source: inout NodeSource) {
        if case .object(let object) = type.shape, let union = object.union {
            return declare(name, union, doc: doc, to: &source)
        }
        source.doc(doc)
        guard case .object(let object) = type.shape, !object.properties.isEmpty else {
            // The name of an enumeration includes only the known values. Where results use it, they wrap it in `Open`.
            return source.line("export type \(name) = \(expression(type, direction));")
        }
        guard !object.choices.isEmpty else {
            return source.block("export interface \(name) {", end: "}") { members(object.properties, direction, to: &$0) }
        }
        let fixed = object.properties.filter { property in !object.choices.contains { $0.members.contains(property.name) } }
        source.block("export type \(name) =", end: "") { source in
            if !fixed.isEmpty { source.block("& {", end: "}") { members(fixed, direction, to: &$0) } }
            for choice in object.choices {
                source.block("& (", end: ")") { alternatives(choice, of: object, direction, to: &$0) }
            }
        }
    }

    /// Declares the union and an interface for each variant, such as `SignUpStepCodeRequired`.
    private func declare(_ name: String, _ union: Union, doc: String, to source: inout NodeSource) {
        source.doc("\(doc) `\(union.discriminator)` determines the other members. A later version can return another variant.")
        source.block("export type \(name) =", end: "") { source in
            for variant in union.variants { source.line("| \(name)\(SwiftNames.type(variant.value))") }
            source.line("| UnknownVariant<\(NodeSource.literal(union.discriminator))>;")
        }
        for variant in union.variants {
            source.line()
            source.doc(variant.description)
            source.block("export interface \(name)\(SwiftNames.type(variant.value)) {", end: "}") {
                members(variant.object.properties, .result, to: &$0)
            }
        }
    }

    private func members(_ properties: [Property], _ direction: Direction, to source: inout NodeSource) {
        for property in properties {
            source.doc(NodeDocs(contract: contract).property(property))
            source.line(member(property, direction) + ";")
        }
    }

    /// Generates one object type for each member of a choice. The rule determines the types of the other members.
    private func alternatives(_ choice: Choice, of object: ObjectType, _ direction: Direction, to source: inout NodeSource) {
        let properties = choice.members.compactMap(object.property)
        for chosen in properties {
            source.block("| {", end: "}") { source in
                for property in properties {
                    source.doc(NodeDocs(contract: contract).property(property))
                    let name = NodeSource.member(property.name)
                    let type = expression(property.type, direction)
                    switch (property.name == chosen.name, choice.rule) {
                    case (true, .exactlyOne), (true, .atLeastOne): source.line("\(name): \(type);")
                    case (true, .atMostOne), (false, .atLeastOne): source.line("\(name)?: \(type);")
                    case (false, .exactlyOne), (false, .atMostOne): source.line("\(name)?: undefined;")
                    }
                }
            }
        }
    }

    // MARK: Shared types

    /// `types.d.ts`: the shared types, which have separate schema files.
    var declarations: GeneratedFile {
        var source = NodeSource(from: "types")
        source.doc("A value that this client knows, or a value of a later version of Mintmark.")
        source.line("export type Open<Known extends string> = Known | (string & {});")
        source.line()
        source.doc("Any JSON object.")
        source.line("export type JsonObject = { [name: string]: unknown };")
        source.line()
        source.doc(
            "The type of a discriminator whose value this client does not know. It exists only in declarations: the value is any string.")
        source.line("declare enum UnknownValue { unknown = \"unknown\" }")
        source.line("export {};")
        source.line()
        source.doc("A variant of a later version of Mintmark, with all its members. No comparison with a known value narrows to it.")
        source.line("export type UnknownVariant<Discriminator extends string> = { [name in Discriminator]: UnknownValue } & JsonObject;")
        for type in contract.types {
            source.line()
            declare(type.name, type.type, direction(of: type.type), doc: NodeDocs(contract: contract).type(type.type), to: &source)
        }
        return source.file("types.d.ts")
    }

    /// An open object is a result.
    private func direction(of type: Type) -> Direction {
        if case .object(let object) = type.shape, !object.isClosed { return .result }
        return .params
    }

    /// Appends an import of the shared types that `types` refer to, or nothing if there are none.
    func importing(_ types: [(Type, Direction)], and others: [String] = [], from path: String, to source: inout NodeSource) {
        var names = Set(others)
        func walk(_ type: Type, _ direction: Direction) {
            switch type.shape {
            case .reference(let name):
                names.insert(name)
                if direction == .result, case .enumeration? = contract.type(name)?.type.shape { names.insert("Open") }
            case .enumeration: if direction == .result { names.insert("Open") }
            case .anyObject: names.insert("JsonObject")
            case .array(let element, _, _): walk(element, direction)
            case .map(_, let values, _): walk(values, direction)
            case .object(let object): object.properties.forEach { walk($0.type, direction) }
            case .boolean, .integer, .string: break
            }
        }
        for (type, direction) in types { walk(type, direction) }
        guard !names.isEmpty else { return }
        source.line("import type { \(names.sorted().joined(separator: ", ")) } from \"\(path)\";")
    }
}
