/// Generates the methods of one namespace, with the records of their parameters and results.
struct JavaNamespace {
    let types: JavaTypes
    let name: String
    let methods: [Method]

    /// Converts `token` to `TokenMethods`.
    static func type(_ name: String) -> String { SwiftNames.type(name) + "Methods" }

    var file: GeneratedFile {
        let type = Self.type(name)
        var source = JavaSource(
            from: "methods/\(name).*.json",
            imports: [
                "java.time.Instant", "java.util.List", "java.util.Map", "java.util.concurrent.CompletableFuture",
                "java.util.function.Consumer", "mintmark.Caller", "mintmark.Pages", "mintmark.json.JsonRecord", "mintmark.json.JsonText",
                "mintmark.json.Members", "mintmark.json.Read", "mintmark.json.Records", "mintmark.json.Sink",
            ])
        source.doc("The methods \(name).*. Those whose names end with Async answer in a future; cancelling it cancels the request.")
        source.block("public final class \(type)") { source in
            source.line("private final Caller caller;")
            source.line()
            source.block("\(type)(Caller caller)") { $0.line("this.caller = caller;") }
            for method in methods { write(method, &source) }
            for method in methods { records(method, within: type, &source) }
        }
        return source.file(type)
    }

    /// Converts `mintForDeveloper` to `MintForDeveloperParams` or `MintForDeveloperResult`.
    private func nested(_ method: Method, _ what: String) -> String { SwiftNames.type(method.verb) + what }

    private func records(_ method: Method, within type: String, _ source: inout JavaSource) {
        let writer = JavaRecords(types: types)
        if !method.params.properties.isEmpty {
            let params = Type(description: nil, isSecret: false, shape: .object(method.params))
            writer.write(
                params, nested(method, "Params"), within: [type], about: "The parameters of \(method.name).", isMade: true, &source)
        }
        writer.write(
            method.result, nested(method, "Result"), within: [type], about: "The result of \(method.name).", isMade: false, &source)
    }

    private func write(_ method: Method, _ source: inout JavaSource) {
        let verb = JavaNames.member(method.verb)
        let async = method.verb + "Async"
        let result = types.expression(method.result, nested: nested(method, "Result"))
        let reader = types.reader(method.result, nested: nested(method, "Result"))
        let future = "CompletableFuture<\(result)>"
        let params = nested(method, "Params")
        let wire = JavaNames.literal(method.name)
        guard !method.params.properties.isEmpty else {
            source.line()
            source.doc(documentation(method), tags: ["@return what it answers"])
            source.block("public \(result) \(verb)()") { $0.line("return caller.call(\(wire), Map.of(), \(reader));") }
            let tags = ["@return what it answers, in a future"]
            forward("As \(verb), in a future.", tags, "\(future) \(async)()", "caller.callAsync(\(wire), Map.of(), \(reader))", &source)
            return
        }
        let given = ["@param params what it takes", "@return what it answers"]
        let built = ["@param params says what it takes to a builder", "@return what it answers"]
        source.line()
        source.doc(documentation(method), tags: given)
        source.block("public \(result) \(verb)(\(params) params)") { $0.line("return caller.call(\(wire), params.toJson(), \(reader));") }
        forward(
            "As \(verb), in a future.", given, "\(future) \(async)(\(params) params)",
            "caller.callAsync(\(wire), params.toJson(), \(reader))", &source)
        let build = "Records.told(\(params).builder(), params).build()"
        forward("As \(verb), with a builder.", built, "\(result) \(verb)(Consumer<\(params).Builder> params)", "\(verb)(\(build))", &source)
        forward(
            "As \(verb), with a builder, in a future.", built, "\(future) \(async)(Consumer<\(params).Builder> params)",
            "\(async)(\(build))",
            &source)
        if !method.params.properties.contains(where: \.isRequired) {
            let tags = ["@return what it answers"]
            forward("As \(verb), with nothing said.", tags, "\(result) \(verb)()", "\(verb)(\(params).builder().build())", &source)
            forward(
                "As \(verb), with nothing said, in a future.", tags, "\(future) \(async)()", "\(async)(\(params).builder().build())",
                &source)
        }
        if isPaged(method) { pages(method, verb, result, params, &source) }
    }

    private func forward(_ doc: String, _ tags: [String], _ head: String, _ value: String, _ source: inout JavaSource) {
        source.line()
        source.doc(doc, tags: tags)
        source.block("public \(head)") { $0.line("return \(value);") }
    }

    private func isPaged(_ method: Method) -> Bool {
        guard case .object(let result) = types.contract.resolve(method.result).shape else { return false }
        return method.params.property("cursor") != nil && result.property("nextCursor") != nil
    }

    private func pages(_ method: Method, _ verb: String, _ result: String, _ params: String, _ source: inout JavaSource) {
        source.line()
        source.doc("What \(verb) answers, page by page.", tags: ["@param params says what it takes to a builder", "@return the pages"])
        source.block("public Pages<\(result)> \(method.verb)Pages(Consumer<\(params).Builder> params)") { source in
            source.line("var first = Records.told(\(params).builder(), params).build();")
            source.line("return new Pages<>(")
            source.line(
                "        cursor -> \(verb)(cursor == null ? first : first.toBuilder().cursor(cursor).build()), \(result)::nextCursor);")
        }
    }

    private func documentation(_ method: Method) -> String {
        var parts = [method.summary, method.description]
        if method.isTesting { parts.append("Available only with `--testing`.") }
        if !method.equivalents.isEmpty {
            parts.append("Equivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + ".")
        }
        if !method.errors.isEmpty { parts.append("Errors: " + method.errors.map(JavaNames.error).joined(separator: ", ") + ".") }
        return parts.joined(separator: "\n")
    }
}
