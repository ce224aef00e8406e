/// Writes the methods of one namespace.
struct GoNamespace {
    let types: GoTypes
    let name: String
    let methods: [Method]

    /// `token` as `TokenMethods`.
    static func type(_ name: String) -> String { GoNames.exported(name) + "Methods" }

    var file: GeneratedFile {
        var source = GoSource(from: "methods/\(name).*.json", imports: ["context"])
        source.line()
        source.doc("\(Self.type(name)) are the methods \(name).*.")
        source.fields(Self.type(name), [("", "client *Client")])
        for method in methods {
            write(method, &source)
            if isPaged(method) { pages(method, &source) }
        }
        return source.file(name.lowercased())
    }

    private func write(_ method: Method, _ source: inout GoSource) {
        let verb = GoNames.exported(method.verb)
        let hasParams = !method.params.properties.isEmpty
        let result = types.expression(method.result, nested: GoNames.exported(method.name) + "Result")
        let params = hasParams ? "params \(GoNames.exported(method.name))Params, " : ""
        source.line()
        source.doc(documentation(method, verb))
        source.block("func (m \(Self.type(name))) \(verb)(ctx context.Context, \(params)options ...CallOption) (*\(result), error)") {
            $0.line("return invoke[\(result)](ctx, m.client, \(GoNames.literal(method.name)), \(hasParams ? "params" : "nil"), options)")
        }
    }

    private func documentation(_ method: Method, _ verb: String) -> String {
        var parts = ["\(verb): \(method.summary)", "", method.description]
        if method.isTesting { parts += ["", "Offered by testing processes only."] }
        if !method.equivalents.isEmpty {
            parts += ["", "Equivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + "."]
        }
        if !method.errors.isEmpty { parts += ["", "Errors: " + method.errors.map(GoNames.error).joined(separator: ", ") + "."] }
        return parts.joined(separator: "\n")
    }

    private func isPaged(_ method: Method) -> Bool {
        guard case .object(let result) = types.contract.resolve(method.result).shape else { return false }
        return method.params.property("cursor") != nil && result.property("nextCursor") != nil
    }

    private func pages(_ method: Method, _ source: inout GoSource) {
        let verb = GoNames.exported(method.verb)
        let result = types.expression(method.result, nested: GoNames.exported(method.name) + "Result")
        source.line()
        source.doc("\(verb)Pages reads what \(verb) answers page by page, from the one that params name.")
        source.block(
            "func (m \(Self.type(name))) \(verb)Pages(params \(GoNames.exported(method.name))Params, options ...CallOption) *Pages[\(result)]"
        ) { source in
            source.line("return newPages(func(ctx context.Context, cursor string) (*\(result), string, error) {")
            source.line("\tif cursor != \"\" {")
            source.line("\t\tparams.Cursor = cursor")
            source.line("\t}")
            source.line("\tpage, err := m.\(verb)(ctx, params, options...)")
            source.line("\tif err != nil {")
            source.line("\t\treturn nil, \"\", err")
            source.line("\t}")
            source.line("\treturn page, page.NextCursor, nil")
            source.line("})")
        }
    }
}
