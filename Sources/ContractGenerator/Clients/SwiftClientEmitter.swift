import JSON

/// Generates the methods, types and errors of the Swift client.
struct SwiftClientEmitter: Emitter {
    static let folder = "clients/swift/Sources/MintmarkClient/Generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = SwiftClientTypes(contract: contract)
        var passed = ReachableTypes(contract: contract)
        passed.add(paramsOf: contract.methods)
        return contract.namespaces.map { SwiftClientNamespace(types: types, name: $0.name, methods: $0.methods).file }
            + contract.types.compactMap { shared($0, types, isPassed: passed.names.contains($0.name)) }
            + [errors(contract, types), table(contract), SwiftClientOptions(options: contract.options).file]
    }

    private func shared(_ type: NamedType, _ types: SwiftClientTypes, isPassed: Bool) -> GeneratedFile? {
        var source = SwiftSource(from: "types/\(type.name).json")
        switch type.type.shape {
        case .object, .enumeration: SwiftClientRecords(types: types, isPassed: isPassed).emit(type.type, type.name, doc: "", &source)
        default: return nil
        }
        return GeneratedFile(path: "\(Self.folder)/Types/\(type.name).swift", text: source.text)
    }

    private func errors(_ contract: Contract, _ types: SwiftClientTypes) -> GeneratedFile {
        var source = SwiftSource(from: "errors.json")
        for error in contract.errors { declare(error, types, &source) }
        source.doc("The types of the errors by their numbers.")
        source.list(
            "let errorTypes: [Int: any KnownError.Type] = [",
            contract.errors.map { "\($0.code): \(SwiftClientTypes.error($0.type)).self" }, "]")
        return GeneratedFile(path: "\(Self.folder)/ErrorTypes.swift", text: source.text)
    }

    private func declare(_ error: ErrorEntry, _ types: SwiftClientTypes, _ source: inout SwiftSource) {
        let equivalents = error.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ")
        source.doc("`\(error.type)`, \(error.code). \(error.when)" + (equivalents.isEmpty ? "" : " Equivalent: \(equivalents)."))
        source.block("public struct \(SwiftClientTypes.error(error.type)): KnownError") { source in
            source.line("public let answer: Answer")
            // Every error has `retryAfter`.
            let data = error.data.filter { $0.name != "retryAfterSeconds" }
            for property in data {
                source.doc(types.description(property))
                source.line("public let \(SwiftNames.member(property.name)): \(types.name(property, nested: property.name))")
            }
            let reads = data.map { "\(SwiftNames.member($0.name)) = try data.\($0.isRequired ? "required" : "optional")(\"\($0.name)\")" }
            let body = ["self.answer = answer"] + (data.isEmpty ? [] : ["var data = answer.reader"]) + reads
            source.line("public init(_ answer: Answer) throws { \(body.joined(separator: "; ")) }")
            for property in data {
                SwiftClientRecords(types: types, isPassed: false)
                    .emit(property.type, property.name, doc: property.description, &source)
            }
        }
        source.line()
    }

    private func table(_ contract: Contract) -> GeneratedFile {
        var source = SwiftSource(from: "methods")
        source.doc("The version of the contract that this client was made from.")
        source.line("public let contractVersion = \"\(contract.version)\"")
        source.line()
        source.block("extension Caller") { source in
            for (name, methods) in contract.namespaces where !methods.allSatisfy(\.isTesting) {
                source.doc("The methods `\(name).*`.")
                source.line("public var \(SwiftNames.member(name)): \(SwiftClientNamespace.type(name)) { .init(self) }")
            }
        }
        source.line()
        source.doc("Every method, and whether it is for testing processes only.")
        source.list("let knownMethods: [String: Bool] = [", contract.methods.map { "\"\($0.name)\": \($0.isTesting)" }, "]")
        return GeneratedFile(path: "\(Self.folder)/Contract.swift", text: source.text)
    }
}

/// Generates the part of the Swift client's conformance driver that calls every method through its function.
struct SwiftDriverEmitter: Emitter {
    static let folder = "clients/swift/conformance/Driver/Generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = SwiftClientTypes(contract: contract)
        return [table(contract)] + contract.namespaces.map { namespace($0.name, $0.methods, types) }
    }

    private func table(_ contract: Contract) -> GeneratedFile {
        var source = source("methods")
        source.doc("Calls the function of a namespace's method; nil where it does not take these parameters.")
        source.block(
            "func typed(_ method: String, _ given: inout Given, _ m: Mintmark, _ timeout: Duration?, _ trace: String?) async throws -> JSONValue?"
        ) { source in
            source.line("switch method.prefix(while: { $0 != \".\" }) {")
            for (name, _) in contract.namespaces {
                source.line("case \"\(name)\": return try await \(SwiftNames.plainMember(name))Call(method, &given, m, timeout, trace)")
            }
            source.line("default: return nil")
            source.line("}")
        }
        return GeneratedFile(path: "\(Self.folder)/TypedCalls.swift", text: source.text)
    }

    private func namespace(_ name: String, _ methods: [Method], _ types: SwiftClientTypes) -> GeneratedFile {
        var source = source("methods/\(name).*.json")
        let head = "func \(SwiftNames.plainMember(name))Call("
        let rest = "_ given: inout Given, _ m: Mintmark, _ timeout: Duration?, _ trace: String?) async throws -> JSONValue?"
        source.block(head + "_ method: String, " + rest) { source in
            source.line("switch method {")
            for method in methods { write(method, types, &source) }
            source.line("default: return nil")
            source.line("}")
        }
        return GeneratedFile(path: "\(Self.folder)/\(SwiftNames.type(name))Calls.swift", text: source.text)
    }

    private func write(_ method: Method, _ types: SwiftClientTypes, _ source: inout SwiftSource) {
        let properties = SwiftClientNamespace.properties(method)
        source.line("case \"\(method.name)\":")
        for property in properties {
            let type = types.name(property, nested: SwiftClientNamespace.nested(method, property))
            let how = property.isRequired ? "required" : "optional"
            source.line("    let \(SwiftNames.member(property.name)): \(type) = try given.\(how)(\"\(property.name)\")")
        }
        source.line("    guard given.isUsedUp else { return nil }")
        let arguments = properties.map { "\($0.name): \(SwiftNames.member($0.name))" } + ["timeout: timeout", "trace: trace"]
        let namespace = method.isTesting ? "TestMethods(m)" : "m.\(SwiftNames.member(method.namespace))"
        let function = "\(namespace).\(SwiftNames.member(method.verb))"
        source.line("    return try await \(function)(\(arguments.joined(separator: ", "))).wire")
    }

    private func source(_ origin: String) -> SwiftSource {
        var source = SwiftSource(from: origin)
        source.line("import MintmarkClient")
        source.line()
        return source
    }
}
