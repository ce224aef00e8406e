import JSON

/// Generates a class for each error.
struct NodeErrors {
    let types: NodeTypes

    private var entries: [ErrorEntry] { types.contract.errors }

    var script: GeneratedFile {
        var source = NodeSource(from: "errors.json")
        source.line("import { classes } from \"../src/known-errors.js\";")
        source.line()
        source.block("export const {", end: "} = classes({") { $0.list(entries.map { SwiftNames.type($0.type) + "," }) }
        source.block("", end: "});") { $0.list(entries.map { "\(SwiftNames.type($0.type)): \($0.code)," }) }
        return source.file("errors.js")
    }

    var declarations: GeneratedFile {
        var source = NodeSource(from: "errors.json")
        source.line("import { APIError } from \"../src/errors.js\";")
        types.importing(entries.flatMap { $0.data.map { ($0.type, .result) } }, from: "./types.js", to: &source)
        source.line()
        source.block("declare class Answered<Type extends string, Data = {}> extends APIError {", end: "}") { source in
            source.doc("The number of the error.")
            source.line("static readonly code: number;")
            source.doc("The stable name of the error.")
            source.line("static readonly type: string;")
            source.line("readonly type: Type;")
            source.line("readonly data: Data & { type: Type };")
        }
        for entry in entries { declare(entry, to: &source) }
        source.line()
        source.doc("An error of a type that this client knows.")
        source.block("export type KnownError =", end: ";") { $0.list(entries.map { "| \(SwiftNames.type($0.type))" }) }
        source.line("export {};")
        return source.file("errors.d.ts")
    }

    private func declare(_ entry: ErrorEntry, to source: inout NodeSource) {
        let name = SwiftNames.type(entry.type)
        let type = NodeSource.literal(entry.type)
        let data = entry.data.filter { $0.name != "retryAfterSeconds" }
        source.line()
        if !data.isEmpty {
            source.doc("The details of `\(name)`.")
            source.block("export interface \(name)Data {", end: "}") { source in
                for property in data {
                    source.doc(NodeDocs(contract: types.contract).property(property))
                    source.line(types.member(property, .result) + ";")
                }
            }
        }
        source.doc(documentation(entry))
        source.line("export declare class \(name) extends Answered<\(type)\(data.isEmpty ? "" : ", \(name)Data")> {}")
    }

    private func documentation(_ entry: ErrorEntry) -> String {
        let equivalents = entry.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ")
        return "\(entry.code): \(entry.when)" + (equivalents.isEmpty ? "" : " Equivalent: \(equivalents).")
    }
}
