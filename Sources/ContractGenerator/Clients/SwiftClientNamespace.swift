import JSON

/// Generates the methods of one namespace and the types that are defined inline in them.
struct SwiftClientNamespace {
    let types: SwiftClientTypes
    let name: String
    let methods: [Method]

    /// Converts `token` to `TokenMethods`.
    static func type(_ name: String) -> String { SwiftNames.type(name) + "Methods" }

    var file: GeneratedFile {
        var source = SwiftSource(from: "methods/\(name).*.json")
        let records = SwiftClientRecords(types: types)
        source.doc("The methods `\(name).*`.")
        source.block("public struct \(Self.type(name)): Sendable") { source in
            source.line("let caller: any Caller")
            source.line()
            source.doc("The methods of a client, or of what stands in for one.")
            source.line("public init(_ caller: any Caller) { self.caller = caller }")
            for method in methods {
                write(method, &source)
                if Self.isPaged(method, types) { pages(method, &source) }
            }
        }
        source.line()
        for method in methods {
            let type = SwiftNames.type(method.name)
            for property in method.params.properties {
                records.emit(property.type, Self.nested(method, property), doc: property.description, &source)
            }
            records.emit(method.result, type + "Result", doc: "The result of `\(method.name)`.", &source)
        }
        return GeneratedFile(path: "\(SwiftClientEmitter.folder)/Methods/\(Self.type(name)).swift", text: source.text)
    }

    /// Returns the name of a parameter type that is defined inline.
    static func nested(_ method: Method, _ property: Property) -> String { SwiftNames.type(method.name) + SwiftNames.type(property.name) }

    static func isPaged(_ method: Method, _ types: SwiftClientTypes) -> Bool {
        guard case .object(let result) = types.contract.resolve(method.result).shape else { return false }
        return method.params.property("cursor") != nil && result.property("nextCursor") != nil
    }

    /// Returns the parameters, required ones first.
    static func properties(_ method: Method) -> [Property] {
        method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
    }

    private func parameters(_ properties: [Property], _ method: Method) -> String {
        let own = properties.map {
            "\(SwiftNames.member($0.name)): \(types.name($0, nested: Self.nested(method, $0)))" + ($0.isRequired ? "" : " = nil")
        }
        return (own + ["timeout: Duration? = nil", "trace: String? = nil"]).joined(separator: ", ")
    }

    private func write(_ method: Method, _ source: inout SwiftSource) {
        let properties = Self.properties(method)
        source.line()
        source.doc(documentation(method, properties))
        // The result of a method with side effects may be unused.
        if !method.isReadOnly { source.line("@discardableResult") }
        source.block(
            "public func \(SwiftNames.member(method.verb))(\(parameters(properties, method))) async throws -> \(types.result(method))"
        ) { source in
            source.line("\(properties.isEmpty ? "let" : "var") _params = MemberWriter()")
            for property in properties { source.line("_params.set(\"\(property.name)\", \(SwiftNames.member(property.name)))") }
            source.line("return try await caller.call(\"\(method.name)\", _params.object, timeout: timeout, trace: trace)")
        }
    }

    private func pages(_ method: Method, _ source: inout SwiftSource) {
        let properties = Self.properties(method)
        let given = properties.map { $0.name == "cursor" ? "cursor: cursor" : "\($0.name): \(SwiftNames.member($0.name))" }
        source.line()
        source.doc("Reads what `\(method.verb)` answers page by page, from the one that `cursor` names.")
        source.block("public func \(method.verb)Pages(\(parameters(properties, method))) -> Pages<\(types.result(method))>") { source in
            source.block("Pages(from: cursor) { cursor in", isClosure: true) { source in
                let arguments = (given + ["timeout: timeout", "trace: trace"]).joined(separator: ", ")
                source.line("let page = try await \(SwiftNames.member(method.verb))(\(arguments))")
                source.line("return (page, page.nextCursor)")
            }
        }
    }

    private func documentation(_ method: Method, _ properties: [Property]) -> String {
        var parts = [method.summary, "", method.description]
        if method.isTesting { parts += ["", "Available only with `--testing`."] }
        for choice in method.params.choices { parts += ["", types.sentence(choice)] }
        if !method.equivalents.isEmpty {
            parts += ["", "Equivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + "."]
        }
        if !properties.isEmpty {
            parts += ["", "- Parameters:"] + properties.map { "  - \($0.name): \(types.description($0))" }
        }
        if !method.errors.isEmpty {
            parts += ["- Throws: " + method.errors.map { "`\(SwiftClientTypes.error($0))`" }.joined(separator: ", ") + "."]
        }
        return parts.joined(separator: "\n")
    }
}
