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
        let params = SwiftClientRecords(types: types, isPassed: true)
        let results = SwiftClientRecords(types: types, isPassed: false)
        source.doc("The methods `\(name).*`.")
        source.block("public struct \(Self.type(name)): Sendable") { source in
            source.line("let caller: any Caller")
            source.line()
            source.doc("The methods of a client, or of what stands in for one.")
            source.line("public init(_ caller: any Caller) { self.caller = caller }")
            for method in methods {
                write(method, &source)
                if let items = types.contract.listedMember(of: method) { pages(method, items, &source) }
            }
        }
        source.line()
        for method in methods {
            let type = SwiftNames.type(method.name)
            for property in method.params.properties {
                params.emit(property.type, Self.nested(method, property), doc: property.description, &source)
            }
            results.emit(method.result, type + "Result", doc: "The result of `\(method.name)`.", &source)
        }
        return GeneratedFile(path: "\(SwiftClientEmitter.folder)/Methods/\(Self.type(name)).swift", text: source.text)
    }

    /// Returns the name of a parameter type that is defined inline.
    static func nested(_ method: Method, _ property: Property) -> String { SwiftNames.type(method.name) + SwiftNames.type(property.name) }

    /// Returns the parameters, required ones first.
    static func properties(_ method: Method) -> [Property] {
        method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
    }

    private func parameters(_ properties: [Property], _ method: Method) -> String {
        let own = properties.map {
            "\(SwiftNames.member($0.name)): \(types.name($0, nested: Self.nested(method, $0)))" + ($0.isRequired ? "" : " = nil")
        }
        let progress = method.progress.map { "progress: (@Sendable (\(types.name($0, nested: ""))) -> Void)? = nil" }
        return (own + ["timeout: Duration? = nil", "trace: String? = nil"] + [progress].compactMap { $0 }).joined(separator: ", ")
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
            let members = properties.map { "(\"\($0.name)\", \(SwiftNames.member($0.name)))" }
            if !members.isEmpty { source.list("let _params = JSONObject([", members, "] as [(String, (any WireValue)?)])") }
            source.line(
                "return try await caller.call(\"\(method.name)\", \(members.isEmpty ? "[:]" : "_params"), timeout: timeout, trace: trace"
                    + (method.progress == nil ? ")" : ", progress: progress)")
            )
        }
    }

    private func pages(_ method: Method, _ items: Property, _ source: inout SwiftSource) {
        let properties = Self.properties(method)
        let given = properties.map { $0.name == "cursor" ? "cursor: cursor" : "\($0.name): \(SwiftNames.member($0.name))" }
        source.line()
        source.doc("Returns the pages of `\(method.verb)`, beginning with the one of `cursor`. Each page is requested when it is needed.")
        source.block("public func \(method.verb)Pages(\(parameters(properties, method))) -> Pages<\(types.result(method))>") { source in
            source.block("Pages(from: cursor) { cursor in", isClosure: true) { source in
                let arguments = (given + ["timeout: timeout", "trace: trace"]).joined(separator: ", ")
                source.line("let page = try await \(SwiftNames.member(method.verb))(\(arguments))")
                source.line("return (page, page.nextCursor)")
            }
        }
        let item = types.name(items.type, nested: types.result(method) + "." + SwiftNames.type(items.name)).dropFirst().dropLast()
        let all = properties.filter { !["cursor", "limit"].contains($0.name) }
        let arguments = all.map { "\($0.name): \(SwiftNames.member($0.name))" } + ["timeout: timeout", "trace: trace"]
        source.line()
        source.doc("Returns the items of all pages of `\(method.verb)`. Each page is requested when it is needed.")
        source.block("public func \(method.verb)All(\(parameters(all, method))) -> Items<\(types.result(method)), \(item)>") { source in
            source.line(
                "Items(\(method.verb)Pages(\(arguments.joined(separator: ", ")))) { "
                    + "$0.\(SwiftNames.plainMember(items.name))\(items.isRequired ? "" : " ?? []") }"
            )
        }
    }

    private func documentation(_ method: Method, _ properties: [Property]) -> String {
        var parts = [method.summary, "", method.description]
        if method.caller == .public { parts += ["", "Also available to a client with the access level `public`."] }
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
