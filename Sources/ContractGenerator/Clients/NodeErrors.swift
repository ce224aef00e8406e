import JSON

/// Generates a class for each error.
struct NodeErrors {
    let types: NodeTypes

    private var entries: [ErrorEntry] { types.contract.errors }

    var script: GeneratedFile {
        var source = NodeSource(from: "errors.json")
        source.line("import { RpcError } from \"../src/errors.js\";")
        for entry in entries {
            source.line()
            source.doc(entry.when)
            source.block("export class \(SwiftNames.type(entry.type)) extends RpcError {", end: "}") { source in
                source.line("static code = \(entry.code);")
                source.line("static type = \(NodeSource.literal(entry.type));")
            }
        }
        source.line()
        source.doc("Code to class.")
        source.block("export const errorsByCode = new Map(", end: ");") { source in
            source.block("[", end: "].map((error) => [error.code, error]),") { source in
                for entry in entries { source.line("\(SwiftNames.type(entry.type)),") }
            }
        }
        return source.file("errors.js")
    }

    var declarations: GeneratedFile {
        var source = NodeSource(from: "errors.json")
        source.line("import { RpcError } from \"../src/errors.js\";")
        types.importing(entries.flatMap { $0.data.map { ($0.type, .result) } }, from: "./types.js", to: &source)
        for entry in entries { declare(entry, to: &source) }
        source.line()
        source.doc("Code to class.")
        source.line("export declare const errorsByCode: ReadonlyMap<number, typeof RpcError>;")
        return source.file("errors.d.ts")
    }

    private func declare(_ entry: ErrorEntry, to source: inout NodeSource) {
        let name = SwiftNames.type(entry.type)
        let type = NodeSource.literal(entry.type)
        source.line()
        source.doc("What `\(name)` says beside its message.")
        source.block("export interface \(name)Data {", end: "}") { source in
            source.line("type: \(type);")
            for property in entry.data {
                source.doc(NodeDocs(contract: types.contract).property(property))
                source.line(types.member(property, .result) + ";")
            }
        }
        source.line()
        source.doc(documentation(entry))
        source.block("export declare class \(name) extends RpcError {", end: "}") { source in
            source.line("static readonly code: \(entry.code);")
            source.line("static readonly type: \(type);")
            source.line("readonly code: \(entry.code);")
            source.line("readonly type: \(type);")
            source.line("readonly data: \(name)Data;")
        }
    }

    private func documentation(_ entry: ErrorEntry) -> String {
        let equivalents = entry.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ")
        return entry.when + (equivalents.isEmpty ? "" : "\n\nEquivalents: \(equivalents).")
    }
}
