/// Generates the methods of one namespace.
struct GoNamespace {
    let types: GoTypes
    let name: String
    let methods: [Method]

    private var type: String { Self.type(name) }
    private var package: String { types.package == .client ? "" : "mintmark." }

    /// Converts `token` to `TokenMethods`.
    static func type(_ name: String) -> String { GoNames.exported(name) + "Methods" }

    var file: GeneratedFile {
        var source = GoSource(
            from: "methods/\(name).*.json", package: types.package,
            imports: types.package == .client ? ["context"] : ["context", "", "mintmark.localhost/mintmark"])
        source.line()
        source.doc("\(type) has the methods \(name).*.")
        source.fields(type, [("", "client *\(package)Client")])
        for method in methods {
            write(method, &source)
            if let progress = method.progress { write(method, reporting: types.expression(progress, nested: ""), &source) }
            if let items = types.contract.listedMember(of: method) { pages(method, items, &source) }
        }
        return source.file(types.package == .client ? name.lowercased() : "methods")
    }

    private func params(of method: Method) -> String { GoNames.exported(method.name) + "Params" }

    private func write(_ method: Method, _ source: inout GoSource) {
        let verb = GoNames.exported(method.verb)
        let hasParams = !method.params.properties.isEmpty
        let result = types.result(of: method)
        let given = hasParams ? "params \(params(of: method)), " : ""
        source.line()
        source.doc(documentation(method, verb))
        source.block("func (m \(type)) \(verb)(ctx context.Context, \(given)options ...\(package)CallOption) (*\(result), error)") {
            $0.line("return invoke[\(result)](ctx, m.client, \(GoNames.literal(method.name)), \(hasParams ? "params" : "nil"), options)")
        }
    }

    private func write(_ method: Method, reporting progress: String, _ source: inout GoSource) {
        let verb = GoNames.exported(method.verb)
        let result = types.result(of: method)
        source.line()
        source.doc("\(verb)WithProgress is \(verb) that calls progress with each value that is reported, in the goroutine of the caller.")
        source.line("func (m \(type)) \(verb)WithProgress(")
        source.line("\tctx context.Context, params \(params(of: method)), progress func(\(progress)), options ...CallOption,")
        source.block(") (*\(result), error)") {
            $0.line("return m.\(verb)(ctx, params, append(options[:len(options):len(options)], reporting(progress))...)")
        }
    }

    private func documentation(_ method: Method, _ verb: String) -> String {
        var parts = [GoDocs.verb(verb, method.summary)]
        if !method.description.isEmpty { parts += ["", method.description] }
        if !method.equivalents.isEmpty {
            parts += ["", "Equivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + "."]
        }
        if !method.errors.isEmpty {
            let links = method.errors.map { types.package == .client ? GoErrors.link($0, in: types.contract) : GoErrors.sentinel($0) }
            parts += ["", "Errors: " + links.joined(separator: ", ") + "."]
        }
        return parts.joined(separator: "\n")
    }

    private func pages(_ method: Method, _ items: Property, _ source: inout GoSource) {
        let verb = GoNames.exported(method.verb)
        let result = types.result(of: method)
        let item = types.expression(items.type, nested: GoNames.exported(method.name) + "Result" + GoNames.exported(items.name)).dropFirst(
            2)
        source.line()
        source.doc("\(verb)Pages reads the pages of \(verb), beginning with the one at params.Cursor.")
        source.block("func (m \(type)) \(verb)Pages(params \(params(of: method)), options ...CallOption) *Pages[\(result), \(item)]") {
            source in
            source.line("read := func(ctx context.Context, cursor string) (*\(result), error) {")
            source.line("\tparams.Cursor = cursor")
            source.line("\treturn m.\(verb)(ctx, params, options...)")
            source.line("}")
            source.line("return newPages(params.Cursor, read, func(p *\(result)) ([]\(item), string) {")
            source.line("\treturn p.\(GoNames.exported(items.name)), p.NextCursor")
            source.line("})")
        }
    }
}
