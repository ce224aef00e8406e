/// Generates `clients/node/generated`: the methods, types and errors of the Node client, in JavaScript and in TypeScript declarations.
struct NodeEmitter: Emitter {
    static let folder = "clients/node/generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = NodeTypes(contract: contract)
        let namespaces = contract.namespaces.map { NodeNamespace(types: types, name: $0.name, methods: $0.methods) }
        let errors = NodeErrors(types: types)
        let table = NodeNamespaceTable(contract: contract)
        return namespaces.flatMap { [$0.script, $0.declarations] }
            + [types.declarations, errors.script, errors.declarations, table.script, table.declarations]
    }
}

/// Generates the list of all namespaces, which become members of a client.
struct NodeNamespaceTable {
    let contract: Contract

    private var names: [String] { contract.namespaces.map(\.name) }

    var script: GeneratedFile {
        var source = NodeSource(from: "methods")
        for name in names { source.line("import { \(NodeNamespace.className(name)) } from \"./methods/\(name).js\";") }
        source.line()
        source.doc("The version of the contract that this client was made from.")
        source.line("export const contractVersion = \(NodeSource.literal(contract.version));")
        source.line()
        source.doc("Namespace to the class of its methods.")
        source.block("export const namespaces = {", end: "};") { source in
            for name in names { source.line("\(name): \(NodeNamespace.className(name)),") }
        }
        return source.file("namespaces.js")
    }

    var declarations: GeneratedFile {
        var source = NodeSource(from: "methods")
        for name in names { source.line("import type { \(NodeNamespace.className(name)) } from \"./methods/\(name).js\";") }
        source.line()
        source.doc("The version of the contract that this client was made from.")
        source.line("export declare const contractVersion: \(NodeSource.literal(contract.version));")
        source.line()
        source.doc("The namespaces, members of every client.")
        source.block("export interface Namespaces {", end: "}") { source in
            for name in names { source.line("readonly \(name): \(NodeNamespace.className(name));") }
        }
        for (name, methods) in contract.namespaces {
            source.line()
            source.block("export type {", end: "} from \"./methods/\(name).js\";") { source in
                source.line("\(NodeNamespace.className(name)),")
                for method in methods { source.line("\(SwiftNames.type(method.name))Params, \(SwiftNames.type(method.name))Result,") }
            }
        }
        return source.file("namespaces.d.ts")
    }
}
