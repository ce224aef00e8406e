/// Writes `clients/ruby/sig/generated`: the types of the Ruby client's methods, records and errors in RBS.
struct RubySignatures: Emitter {
    static let folder = "clients/ruby/sig/generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = RubyTypes(contract: contract)
        return [methods(types), records(types), errors(types)]
    }

    private func methods(_ types: RubyTypes) -> GeneratedFile {
        var source = RubySource(from: "methods")
        source.block("module Mintmark") { source in
            source.line("CONTRACT_VERSION: String")
            source.line("METHODS: Hash[String, bool]")
            source.line("SECRETS: Array[String]")
            source.line()
            source.block("module Namespaces") { source in
                for (name, _) in types.contract.namespaces {
                    source.line("def \(RubyNames.member(name)): () -> \(RubyNamespace.type(name))")
                }
            }
            for (name, methods) in types.contract.namespaces {
                source.line()
                source.block("class \(RubyNamespace.type(name)) < Namespace") { source in
                    for method in methods { write(method, types, &source) }
                }
            }
        }
        return file(source, "methods")
    }

    private func write(_ method: Method, _ types: RubyTypes, _ source: inout RubySource) {
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        let parameters =
            properties.map { property in
                let type = types.parameter(property.type)
                let name = RubyNames.member(property.name)
                return property.isRequired ? "\(name): \(type)" : "?\(name): \(RubyTypes.optional(type))"
            } + ["?timeout: Numeric?", "?trace: String?"]
        let result = types.result(method.result, nested: RubyTypes.result(of: method))
        let head = "def \(RubyNames.member(method.verb)): ("
        if parameters.count <= 4 { return source.line(head + parameters.joined(separator: ", ") + ") -> \(result)") }
        source.line(head)
        for (index, each) in parameters.enumerated() { source.line("  \(each)\(index + 1 < parameters.count ? "," : "")") }
        source.line(") -> \(result)")
    }

    private func records(_ types: RubyTypes) -> GeneratedFile {
        var source = RubySource(from: "types, and from the results in schemas/methods")
        source.block("module Mintmark") { source in
            for type in types.contract.types {
                if case .object(let object) = type.type.shape { write(object, type.name, types, &source) }
            }
            for method in types.contract.methods {
                if case .object(let object) = method.result.shape { write(object, RubyTypes.result(of: method), types, &source) }
            }
        }
        return file(source, "records")
    }

    /// The members that a record has by its interface, and then the objects that stand in it.
    private func write(_ object: ObjectType, _ name: String, _ types: RubyTypes, _ source: inout RubySource) {
        source.block("interface _\(name)") { source in
            for property in object.properties {
                guard let member = RubyTypes.member(property.name) else { continue }
                let type = types.result(property.type, nested: name + SwiftNames.type(property.name))
                source.line("def \(member): () -> \(property.isRequired ? type : RubyTypes.optional(type))")
            }
        }
        source.line()
        for property in object.properties {
            if let inner = RubyTypes.inner(property.type) { write(inner, name + SwiftNames.type(property.name), types, &source) }
        }
    }

    private func errors(_ types: RubyTypes) -> GeneratedFile {
        var source = RubySource(from: "errors.json")
        var inner: [(ObjectType, String)] = []
        source.block("module Mintmark") { source in
            for error in types.contract.errors {
                let name = SwiftNames.type(error.type)
                source.block("class \(name) < AnsweredError") { source in
                    for property in error.data {
                        let nested = name + SwiftNames.type(property.name)
                        let type = RubyTypes.optional(types.result(property.type, nested: nested))
                        source.line("def \(RubyNames.errorMember(property.name)): () -> \(type)")
                        if let object = RubyTypes.inner(property.type) { inner.append((object, nested)) }
                    }
                }
                source.line()
            }
            for (object, name) in inner { write(object, name, types, &source) }
            source.line("ERRORS: Hash[String, singleton(AnsweredError)]")
        }
        return file(source, "errors")
    }

    private func file(_ source: RubySource, _ name: String) -> GeneratedFile {
        let text = source.file(name).text.replacing("# frozen_string_literal: true\n\n", with: "")
        return GeneratedFile(path: "\(Self.folder)/\(name).rbs", text: text)
    }
}

/// How types of the contract are written in RBS. Objects of answers are records, which have the members of an interface besides.
struct RubyTypes {
    let contract: Contract

    /// What a caller passes.
    func parameter(_ type: Type) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "Integer"
        case .string: "String"
        case .enumeration(let values): values.map(RubyNames.literal).joined(separator: " | ")
        case .array(let element, _, _): "Array[\(parameter(element))]"
        case .object, .anyObject: "json_object"
        case .map(_, let values, _): "Hash[String, \(parameter(values))] | Hash[Symbol, \(parameter(values))] | Record"
        case .reference(let name): parameter(contract.type(name)!.type)
        }
    }

    /// What is answered. Enumerations are open: a newer program may answer what is not known here. `nested` names an object described in place.
    func result(_ type: Type, nested: String) -> String {
        switch type.shape {
        case .boolean: "bool"
        case .integer: "Integer"
        case .string, .enumeration: "String"
        case .array(let element, _, _): "Array[\(result(element, nested: nested))]"
        case .object: "(Record & _\(nested))"
        case .map, .anyObject: "Record"
        case .reference(let name): result(contract.type(name)!.type, nested: name)
        }
    }

    static func optional(_ type: String) -> String { type.contains(" | ") ? "(\(type))?" : "\(type)?" }

    static func result(of method: Method) -> String { SwiftNames.type(method.name) + "Result" }

    /// The object that is described in place, also as the element of lists.
    static func inner(_ type: Type) -> ObjectType? {
        switch type.shape {
        case .object(let object): object
        case .array(let element, _, _): inner(element)
        default: nil
        }
    }

    /// A record's method for a member, unless every object of Ruby has one by that name: such members are read by their names on the wire.
    static func member(_ name: String) -> String? {
        let snake = PythonNames.member(name).trimmingSuffix("_")
        let own: Set<String> = [
            "class", "display", "dup", "extend", "freeze", "hash", "inspect", "itself", "method", "methods", "send", "tap", "then",
        ]
        return own.contains(snake) ? nil : snake
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
