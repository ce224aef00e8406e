/// Writes a type for each error, and the way from a number to its type.
struct GoErrors {
    let types: GoTypes

    var file: GeneratedFile {
        var source = GoSource(from: "errors.json")
        let errors = types.contract.errors
        for error in errors { declare(error, &source) }
        source.line()
        source.doc("typed is the error that an answer stands for; one that this client does not know is the AnswerError itself.")
        source.block("func typed(answer AnswerError) error") { source in
            source.line("switch answer.Code {")
            for error in errors {
                source.line("case \(error.code):")
                source.line("\te := &\(GoNames.error(error.type)){AnswerError: answer}")
                source.line("\tfillRecord(answer.Data, e)")
                source.line("\treturn e")
            }
            source.line("}")
            source.line("return &answer")
        }
        return source.file("errors")
    }

    private func declare(_ error: ErrorEntry, _ source: inout GoSource) {
        let name = GoNames.error(error.type)
        source.line()
        source.doc("\(name) is the error \(error.type), \(error.code). \(error.when)")
        if !error.equivalents.isEmpty {
            source.doc("\nEquivalents: " + error.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ") + ".")
        }
        let members = error.data.map { (types.description($0), types.field($0, nested: name + GoNames.exported($0.name), in: .answer)) }
        source.fields(name, [("", "AnswerError")] + members)
        source.line()
        source.doc("Unwrap gives what every answered error has.")
        source.block("func (e *\(name)) Unwrap() error") { $0.line("return &e.AnswerError") }
    }
}
