/// Generates the methods of one namespace.
struct JavaNamespace {
    let types: JavaTypes
    let name: String
    let methods: [Method]

    /// Converts `token` to `TokenMethods`.
    static func type(_ name: String) -> String { SwiftNames.type(name) + "Methods" }

    var file: GeneratedFile {
        let type = Self.type(name)
        let isTesting = methods.allSatisfy(\.isTesting)
        var source = JavaSource(from: "methods/\(name).*.json")
        source.doc(
            "The methods <code>\(name).*</code>. Those with the suffix Async return a future; canceling it cancels the request. Calls fail "
                + "with a {@link mintmark.MintmarkException}.")
        source.block("public final class \(type)") { source in
            source.line("private final Caller caller;")
            source.line()
            if isTesting { source.doc("Creates the methods.", tags: ["@param caller performs the calls"]) }
            source.line("\(isTesting ? "public " : "")\(type)(Caller caller) { this.caller = caller; }")
            for method in methods { write(method, &source) }
        }
        return source.file(type)
    }

    /// The Java names and types of a method.
    private struct Names {
        let verb: String
        let params: String
        let result: String
        let reader: String
        let wire: String
    }

    private func write(_ method: Method, _ source: inout JavaSource) {
        let (resolved, result) = types.unwrapped(method.result, nested: JavaNames.result(method))
        let object: ObjectType? = if case .object(let object) = resolved.shape { object } else { nil }
        let names = Names(
            verb: JavaNames.member(method.verb), params: JavaNames.params(method), result: object == nil ? "Map<String, Object>" : result,
            reader: object.map { JavaTypes.reader($0, result) } ?? "json -> json", wire: JavaNames.literal(method.name))
        if method.params.properties.isEmpty {
            single(method, names, &source)
        } else if method.params.properties.contains(where: \.isRequired) {
            required(method, names, &source)
        } else {
            optional(method, names, &source)
        }
        if let progress = method.progress { reporting(method, names, types.boxed(progress, nested: ""), source: &source) }
        if let items = types.contract.listedMember(of: method) { lists(method, names, items, source: &source) }
    }

    private func single(_ method: Method, _ names: Names, _ source: inout JavaSource) {
        declare(names, Overload(arguments: "\(names.wire), Params.NONE"), about: documentation(method), &source)
    }

    private func required(_ method: Method, _ names: Names, _ source: inout JavaSource) {
        let required = method.params.properties.filter(\.isRequired).map { JavaNames.literal($0.name) }.joined(separator: ", ")
        declare(
            names,
            Overload(
                params: "\(names.params) params", arguments: "\(names.wire), params.require(\(required))",
                tags: ["@param params the parameters"]),
            about: documentation(method), &source)
        let filled = Overload(
            params: "Consumer<\(names.params)> params", arguments: "(Params.filled(new \(names.params)(), params))", tags: Self.setsParams)
        forward(names, filled, link: "#\(names.verb)(\(names.params))", &source)
    }

    private func optional(_ method: Method, _ names: Names, _ source: inout JavaSource) {
        let filled = Overload(
            params: "Consumer<\(names.params)> params", arguments: "\(names.wire), Params.filled(new \(names.params)(), params)",
            tags: Self.setsParams)
        declare(names, filled, about: documentation(method), &source)
        forward(names, Overload(arguments: "(params -> {})"), link: "#\(names.verb)(Consumer)", &source)
    }

    /// The parameters of one overload of a method, the arguments that it passes on, and the documentation of its parameters.
    private struct Overload {
        var params = ""
        let arguments: String
        var tags: [String] = []
    }

    private static let setsParams = ["@param params sets the parameters"]

    /// Generates the method and its asynchronous form.
    private func declare(_ names: Names, _ overload: Overload, about: String, _ source: inout JavaSource) {
        let (params, arguments) = (overload.params, overload.arguments)
        source.line()
        source.doc(about, tags: overload.tags + ["@return the result"])
        source.short("public \(names.result) \(names.verb)(\(params))", "return caller.call(\(arguments), \(names.reader));")
        let type = params.split(separator: " ").first.map(String.init)?.replacing("<\(names.params)>", with: "") ?? ""
        source.line()
        source.doc("{@return a future of {@link #\(names.verb)(\(type))}}", tags: overload.tags)
        source.short(
            "public CompletableFuture<\(names.result)> \(names.verb)Async(\(params))",
            "return caller.callAsync(\(arguments), \(names.reader));")
    }

    /// Generates an overload and its asynchronous form.
    private func forward(_ names: Names, _ overload: Overload, link: String, _ source: inout JavaSource) {
        let (params, arguments, tags) = (overload.params, overload.arguments, overload.tags)
        source.line()
        source.doc("{@return the result of {@link \(link)}}", tags: tags)
        source.short("public \(names.result) \(names.verb)(\(params))", "return \(names.verb)\(arguments);")
        source.line()
        source.doc("{@return a future of {@link \(link)}}", tags: tags)
        source.short("public CompletableFuture<\(names.result)> \(names.verb)Async(\(params))", "return \(names.verb)Async\(arguments);")
    }

    private func reporting(_ method: Method, _ names: Names, _ progress: String, source: inout JavaSource) {
        let params = "Consumer<\(names.params)> params, Consumer<\(progress)> progress"
        let tags = [
            "@param params sets the parameters",
            "@param progress receives the progress in order, in a thread of its own, before the call returns",
        ]
        for suffix in ["", "Async"] {
            let result = suffix.isEmpty ? names.result : "CompletableFuture<\(names.result)>"
            source.line()
            source.doc("{@return \(suffix.isEmpty ? "the result" : "a future") of the call, which reports its progress}", tags: tags)
            source.block("public \(result) \(names.verb)\(suffix)(\(params))") { source in
                source.line("var reporting = caller.withProgress(json -> progress.accept(new \(progress)(json)));")
                source.line("return new \(Self.type(name))(reporting).\(names.verb)\(suffix)(params);")
            }
        }
    }

    private func lists(_ method: Method, _ names: Names, _ items: Property, source: inout JavaSource) {
        let isOptional = !method.params.properties.contains(where: \.isRequired)
        guard case .array(let element, _, _) = types.contract.resolve(items.type).shape else { return }
        let item = types.boxed(element, nested: names.result + "." + JavaNames.nested(items.name, within: [names.result]))
        let params = "Consumer<\(names.params)> params"
        let tags = ["@param params sets the parameters of the first page"]
        source.line()
        source.doc("{@return the pages of {@link #\(names.verb)}} Each page is requested when it is needed.", tags: tags)
        source.block("public Pages<\(names.result)> \(names.verb)Pages(\(params))") { source in
            source.line("return new Pages<>(cursor -> \(names.verb)(p -> {")
            source.line("    params.accept(p);")
            source.line("    if (cursor != null) { p.cursor(cursor); }")
            source.line("}), \(names.result)::nextCursor);")
        }
        source.line()
        source.doc("{@return the items of all pages of {@link #\(names.verb)}} Each page is requested when it is needed.", tags: tags)
        source.short(
            "public Items<\(item)> \(names.verb)All(\(params))",
            "return new Items<>(\(names.verb)Pages(params), \(names.result)::\(JavaNames.member(items.name)));")
        guard isOptional else { return }
        source.line()
        source.doc("{@return the items of all pages} Each page is requested when it is needed.")
        source.short("public Items<\(item)> \(names.verb)All()", "return \(names.verb)All(params -> {});")
    }

    private func documentation(_ method: Method) -> String {
        var parts = [JavaDocs.method(method.summary) + " " + JavaDocs.html(method.description)]
        if method.caller == .public { parts.append("Also available to a client with the access level <code>public</code>.") }
        parts.append(JavaDocs.equivalents(method.equivalents))
        let errors = method.errors.map { "{@link \(JavaNames.error($0))}" }
        if !errors.isEmpty { parts.append("Errors: " + errors.joined(separator: ", ") + ".") }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
