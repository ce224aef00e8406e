/// Generates `clients/ruby/sig/generated`: the types of the Ruby client's methods, records, errors and options in RBS.
struct RubySignatures: Emitter {
    static let folder = "clients/ruby/sig/generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = RubyTypes(contract: contract)
        return [methods(types), records(types), errors(types), options(contract)]
    }

    private func methods(_ types: RubyTypes) -> GeneratedFile {
        var source = RubySource(from: "methods")
        source.block("module Mintmark") { source in
            source.line("CONTRACT_VERSION: String")
            source.line("METHODS: Hash[String, Symbol?]")
            source.line("PROGRESS: Hash[String, Symbol]")
            source.line("NOTIFICATIONS: Hash[String, Symbol]")
            source.line("SECRETS: Array[String]")
            source.line()
            source.block("module Namespaces") { source in
                for (name, methods) in types.contract.namespaces where !RubyNamespace.isTesting(methods) {
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
        return source.signatures("methods")
    }

    private func write(_ method: Method, _ types: RubyTypes, _ source: inout RubySource) {
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        let progress = method.progress.map { ["?progress: (^(\(types.result($0, nested: ""))) -> void)?"] } ?? []
        let parameters =
            properties.map { property in
                let type = types.parameter(property.type)
                let name = RubyNames.member(property.name)
                return property.isRequired ? "\(name): \(type)" : "?\(name): \(RubyTypes.optional(type))"
            } + ["?timeout: Numeric?", "?trace: String?"] + progress
        source.list("def \(RubyNames.member(method.verb)): (", parameters, ") -> \(types.resultClass(of: method) ?? "Record")")
    }

    private func records(_ types: RubyTypes) -> GeneratedFile {
        var source = RubySource(from: "types, and from the results in schemas/methods")
        let records = RubyRecord.all(in: types.contract)
        source.block("module Mintmark") { source in
            for record in (records.production + records.testing).sorted(by: { $0.name < $1.name }) { write(record, types, &source) }
        }
        return source.signatures("records")
    }

    private func write(_ record: RubyRecord, _ types: RubyTypes, _ source: inout RubySource) {
        if let union = record.object.union { return write(union, named: record.name, types, &source) }
        let element = record.items.map { types.result($0.type, nested: record.name + SwiftNames.type($0.name)) }
        // Extracts `PoolSummary` from `Array[PoolSummary]`.
        let base = element.map { "List[\($0.dropFirst("Array[".count).dropLast())]" } ?? "Record"
        if record.object.properties.isEmpty { return source.line("class \(record.name) < \(base) end") }
        source.block("class \(record.name) < \(base)") { source in
            for property in record.object.properties {
                let type = types.result(property.type, nested: record.name + SwiftNames.type(property.name))
                source.line("def \(RubyNames.recordMember(property.name)): () -> \(property.isRequired ? type : RubyTypes.optional(type))")
            }
            if let items = record.items { source.line("alias items \(RubyNames.recordMember(items.name))") }
        }
    }

    private func write(_ union: Union, named name: String, _ types: RubyTypes, _ source: inout RubySource) {
        source.block("class \(name) < Union") { source in
            source.line("def \(RubyNames.recordMember(union.discriminator)): () -> String")
            for variant in union.variants {
                let own = SwiftNames.type(variant.value)
                source.block("class \(own) < \(name)") { source in
                    for property in variant.members.properties {
                        let type = types.result(property.type, nested: name + own + SwiftNames.type(property.name))
                        let result = property.isRequired ? type : RubyTypes.optional(type)
                        source.line("def \(RubyNames.recordMember(property.name)): () -> \(result)")
                    }
                }
            }
            source.line("class Other < \(name) end")
        }
    }

    private func errors(_ types: RubyTypes) -> GeneratedFile {
        var source = RubySource(from: "errors.json")
        source.block("module Mintmark") { source in
            for error in types.contract.errors {
                let name = SwiftNames.type(error.type)
                let data = error.data.filter { $0.name != "retryAfterSeconds" }
                guard !data.isEmpty else {
                    source.line("class \(name) < APIError end")
                    continue
                }
                source.block("class \(name) < APIError") { source in
                    for property in data {
                        let known = types.result(property.type, nested: name + SwiftNames.type(property.name))
                        let type = property.isRequired ? known : RubyTypes.optional(known)
                        source.line("def \(RubyNames.errorMember(property.name)): () -> \(type)")
                    }
                }
            }
            source.line("ERRORS: Hash[String, singleton(APIError)]")
        }
        return source.signatures("errors")
    }

    private func options(_ contract: Contract) -> GeneratedFile {
        var source = RubySource(from: "options.json")
        source.block("module Mintmark") { source in
            source.line("OPTIONS: Hash[Symbol, [String, Symbol]]")
            source.line()
            source.block("class Client") { source in
                let own = [
                    "?binary: _ToS?", "?timeout: Numeric?", "?restart: bool?",
                    "?on_notification: (^(String method, untyped params) -> void)?", "?stderr: _Log?", "?arguments: Array[String]",
                    "?environment: Hash[String, String?]", "?before_create: _Hook?", "?before_sign_in: _Hook?",
                    "?before_send_message: _Hook?",
                ]
                let given = contract.options.map { option in
                    let type =
                        switch option.kind {
                        case .string: option.name == "store" ? "_ToS" : "String"
                        case .integer: "Integer"
                        case .boolean: "bool"
                        case .path: "_ToS"
                        case .time: "(Time | Integer)"
                        }
                    return "?\(RubyNames.member(option.name)): \(type)?"
                }
                source.list("def initialize: (", given + own, ") -> void")
            }
        }
        return source.signatures("options")
    }
}
