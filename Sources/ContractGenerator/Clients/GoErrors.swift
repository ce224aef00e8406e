/// Generates a sentinel for each error, a type for each error with data, and the mapping from sentinels to types.
struct GoErrors {
    let types: GoTypes

    /// Converts `poolNotFound` to `ErrPoolNotFound`.
    static func sentinel(_ type: String) -> String {
        let name = GoNames.exported(type)
        return "Err" + (name.hasSuffix("Error") ? String(name.dropLast("Error".count)) : name)
    }

    /// Returns the link for a doc comment: the type of an error with data, otherwise the sentinel.
    static func link(_ type: String, in contract: Contract) -> String {
        guard let error = contract.error(type), !data(of: error).isEmpty else { return "[\(sentinel(type))]" }
        return "[\(GoNames.error(type))]"
    }

    /// Every error has `RetryAfter`, so that member needs no type.
    private static func data(of error: ErrorEntry) -> [Property] { error.data.filter { $0.name != "retryAfterSeconds" } }

    var file: GeneratedFile {
        let errors = types.contract.errors
        let typed = errors.filter { !Self.data(of: $0).isEmpty }
        var source = GoSource(from: "errors.json", package: .client)
        source.line()
        source.doc("The errors that Mintmark returns, for errors.Is.")
        source.line("const (")
        source.indented { source in
            for error in errors {
                let equivalents = error.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ")
                source.doc("\(error.code): \(error.when)" + (equivalents.isEmpty ? "" : " Equivalent: \(equivalents)."))
                source.line("\(Self.sentinel(error.type)) ErrorType = \(GoNames.literal(error.type))")
            }
        }
        source.line(")")
        for error in typed { declare(error, &source) }
        source.line()
        source.doc("typedErrors makes the errors that have a type of their own.")
        source.line("var typedErrors = map[ErrorType]func(*APIError) error{")
        source.indented { source in
            let width = typed.map { Self.sentinel($0.type).count }.max() ?? 0
            for error in typed {
                let sentinel = Self.sentinel(error.type)
                let space = String(repeating: " ", count: width - sentinel.count + 1)
                source.line("\(sentinel):\(space)func(e *APIError) error { return filled(e, &\(GoNames.error(error.type)){APIError: e}) },")
            }
        }
        source.line("}")
        return source.file("errors")
    }

    private func declare(_ error: ErrorEntry, _ source: inout GoSource) {
        let name = GoNames.error(error.type)
        source.line()
        source.doc("\(name) is [\(Self.sentinel(error.type))] with its data.")
        let members = Self.data(of: error).map {
            (
                types.contract.description($0, time: ""),
                types.field($0, nested: name + GoNames.exported($0.name), name: GoNames.errorMember($0.name), in: .result)
            )
        }
        source.fields(name, [("", "*APIError `json:\"-\"`")] + members)
    }
}
