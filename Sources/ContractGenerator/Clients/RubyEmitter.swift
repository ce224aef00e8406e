import JSON

/// Writes `clients/ruby/lib/mintmark/generated`: what the Ruby client knows about methods and errors.
struct RubyEmitter: Emitter {
    static let folder = "clients/ruby/lib/mintmark/generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = GoTypes(contract: contract)
        return contract.namespaces.map { RubyNamespace(types: types, name: $0.name, methods: $0.methods).file } + [
            errors(contract, types), table(contract, types),
        ]
    }

    private func table(_ contract: Contract, _ types: GoTypes) -> GeneratedFile {
        var source = RubySource(from: "methods")
        for (name, _) in contract.namespaces { source.line("require_relative \"\(RubyNames.member(name))\"") }
        source.line()
        source.block("module Mintmark") { source in
            source.doc("The version of the contract that this client was made from.")
            source.line("CONTRACT_VERSION = \(RubyNames.literal(contract.version))")
            source.line()
            source.doc("Every method, and whether it is for testing processes only.")
            source.line("METHODS = {")
            for method in contract.methods { source.line("  \(RubyNames.literal(method.name)) => \(method.isTesting),") }
            source.line("}.freeze")
            source.line()
            source.doc("Members that are not shown.")
            source.line("SECRETS = %w[\(secrets(contract, types).joined(separator: " "))].freeze")
            source.line()
            source.doc("The methods of a client.")
            source.block("module Namespaces") { source in
                for (name, _) in contract.namespaces {
                    source.doc("`\(name).*`")
                    source.line("def \(RubyNames.member(name)) = (@\(RubyNames.member(name)) ||= \(RubyNamespace.type(name)).new(self))")
                }
            }
        }
        return source.file("namespaces")
    }

    private func secrets(_ contract: Contract, _ types: GoTypes) -> [String] {
        var names: Set<String> = []
        func walk(_ type: Type) {
            switch type.shape {
            case .object(let object):
                for property in object.properties {
                    if types.contract.isSecret(property.type) { names.insert(property.name) }
                    walk(property.type)
                }
            case .array(let element, _, _): walk(element)
            case .map(_, let values, _): walk(values)
            default: break
            }
        }
        for type in contract.types { walk(type.type) }
        for method in contract.methods { walk(method.result) }
        return names.sorted()
    }

    private func errors(_ contract: Contract, _ types: GoTypes) -> GeneratedFile {
        var source = RubySource(from: "errors.json")
        source.line("require_relative \"../errors\"")
        source.line()
        source.block("module Mintmark") { source in
            for error in contract.errors {
                source.doc(error.when)
                source.block("class \(SwiftNames.type(error.type)) < AnsweredError") { source in
                    for property in error.data {
                        source.doc(types.description(property))
                        source.line("def \(RubyNames.errorMember(property.name)) = Record.of(data[\(RubyNames.literal(property.name))])")
                    }
                }
                source.line()
            }
            source.doc("Type to class.")
            source.line("ERRORS = {")
            for error in contract.errors { source.line("  \(RubyNames.literal(error.type)) => \(SwiftNames.type(error.type)),") }
            source.line("}.freeze")
        }
        return source.file("errors")
    }
}

/// Writes the methods of one namespace.
struct RubyNamespace {
    let types: GoTypes
    let name: String
    let methods: [Method]

    static func type(_ name: String) -> String { SwiftNames.type(name) + "Methods" }

    var file: GeneratedFile {
        var source = RubySource(from: "methods/\(name).*.json")
        source.line("require_relative \"../namespace\"")
        source.line()
        source.block("module Mintmark") { source in
            source.doc("The methods `\(name).*`.")
            source.block("class \(Self.type(name)) < Namespace") { source in
                for method in methods { write(method, &source) }
            }
        }
        return source.file(RubyNames.member(name))
    }

    private func write(_ method: Method, _ source: inout RubySource) {
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        let parameters = properties.map { RubyNames.member($0.name) + ($0.isRequired ? ":" : ": nil") } + ["timeout: nil", "trace: nil"]
        let members = properties.map { "\(RubyNames.literal($0.name)) => \(RubyNames.member($0.name))" }
        source.line()
        source.doc(documentation(method, properties))
        source.block("def \(RubyNames.member(method.verb))(\(parameters.joined(separator: ", ")))") {
            $0.line("typed(\(RubyNames.literal(method.name)), {\(members.joined(separator: ", "))}, timeout, trace)")
        }
    }

    private func documentation(_ method: Method, _ properties: [Property]) -> String {
        var parts = [method.summary, "", method.description]
        if method.isTesting { parts += ["", "Only of testing processes."] }
        for property in properties { parts += ["", "@param \(RubyNames.member(property.name)) \(types.description(property))"] }
        if !method.errors.isEmpty { parts += ["", "@raise " + method.errors.map(SwiftNames.type).joined(separator: ", ")] }
        return parts.joined(separator: "\n")
    }
}
