/// Generates `clients/node/generated`: the tables of methods, errors and options in JavaScript, and the TypeScript declarations with the
/// documentation.
struct NodeEmitter: Emitter {
    static let folder = "clients/node/generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = NodeTypes(contract: contract)
        let namespaces = contract.namespaces.map { NodeNamespace(types: types, name: $0.name, methods: $0.methods) }
        let errors = NodeErrors(types: types)
        let options = NodeOptions(options: contract.options)
        return namespaces.map(\.declarations)
            + [
                NodeNamespaceTable(contract: contract, namespaces: namespaces.filter { !$0.isTesting }, isTesting: false),
                NodeNamespaceTable(contract: contract, namespaces: namespaces.filter(\.isTesting), isTesting: true),
            ].flatMap { [$0.script, $0.declarations] } + [
                types.declarations, errors.script, errors.declarations, options.script, options.declarations,
            ]
    }
}

/// Generates the table of all methods, from which the client makes its namespaces. The methods of testing stores have their own table.
struct NodeNamespaceTable {
    let contract: Contract
    let namespaces: [NodeNamespace]
    let isTesting: Bool

    private var file: String { isTesting ? "testing" : "methods" }

    var script: GeneratedFile {
        var source = NodeSource(from: "methods")
        if !isTesting {
            source.line("export const contractVersion = \(NodeSource.literal(contract.version));")
            source.line()
        }
        source.line(
            "// items: the member with the items. reports: whether it reports progress. secrets: the paths of secrets in the result.")
        source.block("export const \(file) = {", end: "};") { source in
            for namespace in namespaces {
                source.block("\(namespace.name): {", end: "},") { source in namespace.methods.forEach { describe($0, to: &source) } }
            }
        }
        return source.file("\(file).js")
    }

    private func describe(_ method: Method, to source: inout NodeSource) {
        var facts: [String] = []
        if let items = contract.listedMember(of: method) { facts.append("items: \(NodeSource.literal(items.name))") }
        if method.progress != nil { facts.append("reports: true") }
        let secrets = NodeSecrets(contract: contract).paths(in: method.result).map { NodeSource.literal($0.joined(separator: ".")) }
        if !secrets.isEmpty { facts.append("secrets: [\(secrets.joined(separator: ", "))]") }
        source.line("\(method.verb): \(facts.isEmpty ? "{}" : "{ \(facts.joined(separator: ", ")) }"),")
    }

    var declarations: GeneratedFile {
        var source = NodeSource(from: "methods")
        for namespace in namespaces { source.line("import type { \(namespace.type) } from \"./methods/\(namespace.name).js\";") }
        source.line()
        if !isTesting {
            source.doc("The version of the contract that this client was made from.")
            source.line("export declare const contractVersion: \(NodeSource.literal(contract.version));")
            source.line()
        }
        source.doc(isTesting ? "The namespaces that only a testing store has." : "The namespaces, members of every client.")
        source.block("export interface \(isTesting ? "TestingNamespaces" : "Namespaces") {", end: "}") { source in
            for namespace in namespaces { source.line("readonly \(namespace.name): \(namespace.type);") }
        }
        source.line()
        for namespace in namespaces { source.line("export * from \"./methods/\(namespace.name).js\";") }
        return source.file("\(file).d.ts")
    }
}
