/// Generates the protocol to which the handlers of one namespace conform.
struct HandlersEmitter {
    let types: SwiftTypes
    let namespace: String
    let methods: [Method]

    var file: GeneratedFile {
        let name = SwiftNames.type(namespace) + "Handlers"
        var source = SwiftSource(from: "methods/\(namespace).*.json")
        source.doc("Answers the methods of `\(namespace)`. Each throws the errors of its schema.")
        source.block("public protocol \(name): CallScoped") { source in
            for (index, method) in methods.enumerated() {
                if index > 0 { source.line() }
                let type = SwiftNames.type(method.name)
                source.doc(method.summary)
                source.line(
                    "func \(SwiftNames.member(method.verb))(_ request: \(type).Params, _ call: any CallContext) throws -> \(type).Result")
            }
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/Handlers/\(name).swift", text: source.text)
    }
}

/// Generates the tables of all methods and all errors.
struct TableEmitter {
    let contract: Contract

    var methods: GeneratedFile {
        var source = SwiftSource(from: "methods")
        source.doc("Every method, in the order of names.")
        source.block("public enum MethodTable") { source in
            source.line("public static let all: [MethodInfo] = [")
            for method in contract.methods { source.line("    \(SwiftNames.type(method.name)).info,") }
            source.line("]")
            source.line()
            bind(&source)
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/MethodTable.swift", text: source.text)
    }

    private func isTesting(_ methods: [Method]) -> Bool { methods.allSatisfy(\.isTesting) }

    private func bind(_ source: inout SwiftSource) {
        let parameters = contract.namespaces.map { name, methods in
            let type = "any \(SwiftNames.type(name))Handlers"
            return "\(SwiftNames.member(name)): \(isTesting(methods) ? "(\(type))? = nil" : type)"
        }
        source.doc("Binds every method to its handler. Testing methods are left out where there is none.")
        source.block("public static func bind(\(parameters.joined(separator: ", "))) -> [BoundMethod]") { source in
            source.line("var all: [BoundMethod] = []")
            source.line("all.reserveCapacity(\(contract.methods.count))")
            for (name, methods) in contract.namespaces {
                let member = SwiftNames.member(name)
                if isTesting(methods) {
                    source.block("if let \(member)") { source in methods.forEach { append($0, to: &source) } }
                } else {
                    methods.forEach { append($0, to: &source) }
                }
            }
            source.line("return all")
        }
    }

    private func append(_ method: Method, to source: inout SwiftSource) {
        // Only quick methods can run on a thread that must not wait.
        let scope = method.cost == .quick || method.costCases.contains { $0.cost == .quick } ? ".scoped(to: $1)" : ""
        let call = "\(SwiftNames.member(method.namespace))\(scope).\(SwiftNames.member(method.verb))"
        let type = SwiftNames.type(method.name)
        source.line("all.append(BoundMethod(\(type).info) { try \(call)(\(type).Params(decoding: $0), $1).write(to: &$2) })")
    }

    var errors: GeneratedFile {
        var source = SwiftSource(from: "errors.json")
        source.doc("Every error, in the order of `schemas/errors.json`.")
        source.block("public enum ErrorTable") { source in
            source.line("public static let all: [ErrorInfo] = [")
            for entry in contract.errors {
                let type = SwiftNames.type(entry.type)
                source.line(
                    "    ErrorInfo(code: \(type).code, type: \(type).type, when: \(SwiftNames.literal(entry.when)), isRetryable: \(entry.retryAfterSeconds != nil), isStoreError: \(entry.isStoreError)),"
                )
            }
            source.line("]")
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/ErrorTable.swift", text: source.text)
    }
}
