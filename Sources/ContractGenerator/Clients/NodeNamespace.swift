/// Generates the methods of one namespace.
struct NodeNamespace {
    let types: NodeTypes
    let name: String
    let methods: [Method]

    /// Converts `token` to `TokenMethods`, because `Token` could also be the name of a type.
    static func className(_ name: String) -> String { SwiftNames.type(name) + "Methods" }

    private var docs: NodeDocs { NodeDocs(contract: types.contract) }
    private var className: String { Self.className(name) }

    // MARK: JavaScript

    var script: GeneratedFile {
        var source = NodeSource(from: "methods/\(name).*.json")
        source.block("const methods = {", end: "};") { source in methods.forEach { describe($0, to: &source) } }
        source.line()
        source.doc("The methods of `\(name)`.")
        source.block("export class \(className) {", end: "}") { source in
            source.line("#call;")
            source.line()
            source.doc("@param call takes a description of a method, its parameters and options, and answers its result.")
            source.block("constructor(call) {", end: "}") { $0.line("this.#call = call;") }
            for method in methods {
                source.line()
                source.doc(docs.method(method))
                source.block("\(method.verb)(params, options) {", end: "}") {
                    $0.line("return this.#call(methods.\(method.verb), params, options);")
                }
            }
        }
        return source.file("methods/\(name).js")
    }

    private func describe(_ method: Method, to source: inout NodeSource) {
        let paths = NodeSecrets(contract: types.contract).paths(in: method.result)
        let secrets = paths.map { "[" + $0.map(NodeSource.literal).joined(separator: ", ") + "]" }.joined(separator: ", ")
        source.line("\(method.verb): { name: \(NodeSource.literal(method.name)), isTesting: \(method.isTesting), secrets: [\(secrets)] },")
    }

    // MARK: TypeScript

    var declarations: GeneratedFile {
        var source = NodeSource(from: "methods/\(name).*.json")
        source.line("import type { CallOptions } from \"../../src/client.js\";")
        types.importing(methods.flatMap { [(params($0), .params), ($0.result, .result)] }, from: "../types.js", to: &source)
        source.line()
        source.doc("The methods of `\(name)`.")
        source.block("export declare class \(className) {", end: "}") { source in
            source.line("private constructor();")
            for method in methods {
                source.line()
                source.doc(docs.method(method))
                source.line("\(method.verb)(")
                source.line("  params\(needsParams(method) ? "" : "?"): \(SwiftNames.type(method.name))Params,")
                source.line("  options?: CallOptions,")
                source.line("): Promise<\(SwiftNames.type(method.name))Result>;")
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

    private func needsParams(_ method: Method) -> Bool {
        method.params.properties.contains(where: \.isRequired) || method.params.choices.contains { $0.rule != .atMostOne }
    }

    private func params(_ method: Method) -> Type { Type(description: nil, isSecret: false, shape: .object(method.params)) }
}
