/// Generates the declarations of the methods of one namespace.
struct NodeNamespace {
    let types: NodeTypes
    let name: String
    let methods: [Method]

    /// Converts `token` to `TokenMethods`, because `Token` could also be the name of a type.
    var type: String { SwiftNames.type(name) + "Methods" }

    /// Whether the namespace is part of `mintmark/testing`.
    var isTesting: Bool { methods.allSatisfy(\.isTesting) }

    private var docs: NodeDocs { NodeDocs(contract: types.contract) }

    var declarations: GeneratedFile {
        var source = NodeSource(from: "methods/\(name).*.json")
        let listed = methods.compactMap(types.contract.listedMember)
        let client = ["CallOptions"] + (methods.contains { $0.progress != nil } ? ["ProgressOptions"] : [])
        source.line("import type { \(client.joined(separator: ", ")) } from \"../../src/client.js\";")
        if !listed.isEmpty { source.line("import type { ListPromise } from \"../../src/lists.js\";") }
        var used: [(Type, NodeTypes.Direction)] = methods.flatMap { [(params($0), .params), ($0.result, .result)] }
        used += methods.compactMap(\.progress).map { ($0, .result) }
        types.importing(used, from: "../types.js", to: &source)
        source.line()
        source.doc("The methods of `\(name)`.")
        source.block("export interface \(type) {", end: "}") { source in
            for (number, method) in methods.enumerated() {
                if number > 0 { source.line() }
                declare(method, to: &source)
            }
        }
        for method in methods {
            let type = SwiftNames.type(method.name)
            source.line()
            types.declare(type + "Params", params(method), .params, doc: "The parameters of `\(method.name)`.", to: &source)
            source.line()
            types.declare(type + "Result", method.result, .result, doc: "The result of `\(method.name)`.", to: &source)
        }
        return source.file("methods/\(name).d.ts")
    }

    private func declare(_ method: Method, to source: inout NodeSource) {
        let type = SwiftNames.type(method.name)
        let parameters = [
            "params\(needsParams(method) ? "" : "?"): \(type)Params",
            "options?: \(method.progress.map { "ProgressOptions<\(types.expression($0, .result))>" } ?? "CallOptions")",
        ]
        let items = types.contract.listedMember(of: method).map { list in
            let member = "\(type)Result[\(NodeSource.literal(list.name))]"
            return (list.isRequired ? member : "NonNullable<\(member)>") + "[number]"
        }
        let result = items.map { "ListPromise<\($0), \(type)Result>" } ?? "Promise<\(type)Result>"
        source.doc(docs.method(method))
        let line = "\(method.verb)(\(parameters.joined(separator: ", "))): \(result);"
        if line.count <= NodeSource.width - 2 { return source.line(line) }
        source.line("\(method.verb)(")
        for parameter in parameters { source.line("  \(parameter),") }
        source.line("): \(result);")
    }

    private func needsParams(_ method: Method) -> Bool {
        method.params.properties.contains(where: \.isRequired) || method.params.choices.contains { $0.rule != .atMostOne }
    }

    private func params(_ method: Method) -> Type { Type(description: nil, isSecret: false, shape: .object(method.params)) }
}
