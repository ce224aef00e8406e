import JSON

/// Generates `clients/ruby/lib/mintmark/generated`: the methods, records, errors and options of the Ruby client. Definitions that only
/// tests use are in its folder `testing`.
struct RubyEmitter: Emitter {
    static let folder = "clients/ruby/lib/mintmark/generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = RubyTypes(contract: contract)
        let records = RubyRecord.all(in: contract)
        return contract.namespaces.map { RubyNamespace(types: types, name: $0.name, methods: $0.methods).file } + [
            RubyRecords(types: types).file(records.production, "records"),
            RubyRecords(types: types).file(records.testing, "testing/records"),
            RubyErrors(types: types).file, namespaces(contract), table(types), options(contract),
        ]
    }

    private func namespaces(_ contract: Contract) -> GeneratedFile {
        var source = RubySource(from: "methods")
        let production = contract.namespaces.filter { !RubyNamespace.isTesting($0.methods) }
        for (name, _) in production { source.line("require_relative \"\(RubyNames.member(name))\"") }
        source.line()
        source.block("module Mintmark") { source in
            source.doc("The namespaces of a client.")
            source.block("module Namespaces") { source in
                for (name, _) in production {
                    source.doc("@return [\(RubyNamespace.type(name))] the methods `\(name).*`")
                    source.line("def \(RubyNames.member(name)) = (@\(RubyNames.member(name)) ||= \(RubyNamespace.type(name)).new(self))")
                }
            }
        }
        return source.file("namespaces")
    }

    private func table(_ types: RubyTypes) -> GeneratedFile {
        let contract = types.contract
        var source = RubySource(from: "methods")
        source.block("module Mintmark") { source in
            source.doc("The version of the contract that this client was generated from.")
            source.line("CONTRACT_VERSION = \(RubyNames.literal(contract.version))")
            source.line()
            source.doc("All methods, each with the class of its result.")
            source.line("METHODS = {")
            for method in contract.methods {
                source.line("  \(RubyNames.literal(method.name)) => \(types.resultClass(of: method).map { ":" + $0 } ?? "nil"),")
            }
            source.line("}.freeze")
            source.line()
            source.doc("The methods that report progress, each with the class of the values.")
            let reporting = contract.methods.filter { $0.progress != nil }
            source.list(
                "PROGRESS = {",
                reporting.map { "\(RubyNames.literal($0.name)) => \(types.conversion($0.progress!, nested: "") ?? "nil")" }, "}.freeze")
            source.line()
            source.doc("The notifications, each with the class of its parameters.")
            source.list(
                "NOTIFICATIONS = {",
                contract.notifications.map { "\(RubyNames.literal($0.name)) => \(types.conversion($0.params, nested: "") ?? "nil")" },
                "}.freeze")
            source.line()
            source.doc("The members that `inspect` hides in objects of an unknown type.")
            source.words("SECRETS = %w[", secrets(contract), "].freeze")
        }
        return source.file("contract")
    }

    private func secrets(_ contract: Contract) -> [String] {
        var names: Set<String> = []
        func walk(_ type: Type) {
            switch type.shape {
            case .object(let object):
                for property in object.properties {
                    if contract.isSecret(property.type) { names.insert(property.name) }
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

    private func options(_ contract: Contract) -> GeneratedFile {
        var source = RubySource(from: "options.json")
        source.block("module Mintmark") { source in
            source.doc("The options of `mintmark serve` as keywords of a client, each with its option on the command line and its type.")
            source.line("OPTIONS = {")
            for option in contract.options {
                source.doc(option.description, indent: 2)
                source.line("  \(RubyNames.member(option.name)): [\(RubyNames.literal(option.flag)), :\(option.kind.rawValue)],")
            }
            source.line("}.freeze")
        }
        return source.file("options")
    }
}

/// Generates the classes of results.
struct RubyRecords {
    let types: RubyTypes

    func file(_ records: [RubyRecord], _ name: String) -> GeneratedFile {
        var source = RubySource(from: "types, and from the results in schemas/methods")
        source.line("require_relative \"\(name.contains("/") ? "../" : "")../record\"")
        source.line()
        source.block("module Mintmark") { source in
            for (number, record) in records.sorted(by: { $0.name < $1.name }).enumerated() {
                if number > 0 { source.line() }
                write(record, &source)
            }
        }
        return source.file(name)
    }

    private func write(_ record: RubyRecord, _ source: inout RubySource) {
        if let union = record.object.union { return write(union, record, &source) }
        source.doc(record.description)
        if record.object.properties.isEmpty { return source.line("class \(record.name) < Record; end") }
        source.block("class \(record.name) < \(record.items == nil ? "Record" : "List")") { source in
            for property in record.object.properties { write(property, of: record.name, &source) }
            if let items = record.items { source.line("alias items \(RubyNames.recordMember(items.name))") }
        }
    }

    /// Appends a class with a nested class for each variant.
    private func write(_ union: Union, _ record: RubyRecord, _ source: inout RubySource) {
        source.doc(record.description + " `\(union.discriminator)` determines the class.")
        source.block("class \(record.name) < Union") { source in
            let classes = union.variants.map { "\(RubyNames.literal($0.value)) => :\(SwiftNames.type($0.value))" }
            source.list("variants \(RubyNames.literal(union.discriminator)), {", classes, "}")
            source.line("member :\(RubyNames.recordMember(union.discriminator)), \(RubyNames.literal(union.discriminator))")
            for variant in union.variants {
                let name = SwiftNames.type(variant.value)
                source.line()
                source.doc(variant.description)
                source.block("class \(name) < \(record.name)") { source in
                    for property in variant.members.properties {
                        if property.constant != nil {
                            source.line("member :\(RubyNames.recordMember(property.name)), \(RubyNames.literal(property.name))")
                        } else {
                            write(property, of: record.name + name, &source)
                        }
                    }
                }
            }
            source.line()
            source.doc("A variant of a later version of Mintmark. `[]` reads its members.")
            source.line("class Other < \(record.name); end")
        }
    }

    private func write(_ property: Property, of record: String, _ source: inout RubySource) {
        var parts = [":\(RubyNames.recordMember(property.name))", RubyNames.literal(property.name)]
        if let conversion = types.conversion(property.type, nested: record + SwiftNames.type(property.name)) { parts.append(conversion) }
        if types.contract.isSecret(property.type) { parts.append("secret: true") }
        source.annotated("member " + parts.joined(separator: ", "), types.contract.description(property, time: ""))
    }
}

/// Generates the classes of errors.
struct RubyErrors {
    let types: RubyTypes

    var file: GeneratedFile {
        var source = RubySource(from: "errors.json")
        source.line("require_relative \"../errors\"")
        source.line()
        source.block("module Mintmark") { source in
            for error in types.contract.errors {
                write(error, &source)
                source.line()
            }
            source.doc("The classes of errors by their types.")
            source.words(
                "ERRORS = %w[", types.contract.errors.map(\.type),
                "].to_h { |type| [type, const_get(type[0].upcase + type[1..])] }.freeze")
        }
        return source.file("errors")
    }

    private func write(_ error: ErrorEntry, _ source: inout RubySource) {
        let name = SwiftNames.type(error.type)
        source.doc(error.when)
        let data = error.data.filter { $0.name != "retryAfterSeconds" }
        if data.isEmpty { return source.line("class \(name) < APIError; end") }
        source.block("class \(name) < APIError") { source in
            for property in data {
                let conversion = types.conversion(property.type, nested: name + SwiftNames.type(property.name))
                let parts =
                    [":\(RubyNames.errorMember(property.name))", RubyNames.literal(property.name)] + (conversion.map { [$0] } ?? [])
                source.annotated("detail " + parts.joined(separator: ", "), types.contract.description(property))
            }
        }
    }
}
