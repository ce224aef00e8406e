/// Generates an exception for each error, and the mapping from error codes to exceptions.
struct JavaErrors {
    let types: JavaTypes

    var file: GeneratedFile {
        var source = JavaSource(
            from: "errors.json",
            imports: [
                "java.time.Instant", "java.util.List", "java.util.Map", "mintmark.Answer", "mintmark.AnswerException",
                "mintmark.json.JsonRecord",
                "mintmark.json.JsonText", "mintmark.json.Members", "mintmark.json.Read", "mintmark.json.Records", "mintmark.json.Sink",
            ])
        let errors = types.contract.errors
        source.doc("An exception for each error that Mintmark answers.")
        source.block("public final class Errors") { source in
            source.block("private Errors()") { _ in }
            source.line()
            source.doc(
                "The exception that an answer stands for; for one that this client does not know, AnswerException itself.",
                tags: ["@param answer the answer", "@return the exception"])
            source.block("public static AnswerException of(Answer answer)") { source in
                source.line("return switch (answer.code()) {")
                for error in errors { source.line("    case \(error.code) -> new \(JavaNames.error(error.type))(answer);") }
                source.line("    default -> new AnswerException(answer);")
                source.line("};")
            }
            for error in errors { declare(error, &source) }
        }
        return source.file("Errors")
    }

    private func declare(_ error: ErrorEntry, _ source: inout JavaSource) {
        let name = JavaNames.error(error.type)
        let equivalents = error.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ")
        source.line()
        source.doc("The error \(error.type), \(error.code). \(error.when)" + (equivalents.isEmpty ? "" : "\nEquivalents: \(equivalents)."))
        source.block("public static final class \(name) extends AnswerException") { source in
            source.line("private static final long serialVersionUID = 1;")
            source.line()
            source.doc("Of an answer.", tags: ["@param answer the answer"])
            source.block("public \(name)(Answer answer)") { $0.line("super(answer);") }
            for property in error.data {
                let nested = JavaNames.nested(property.name, within: ["Errors", name])
                source.line()
                source.doc(types.description(property), tags: ["@return it, or null where the answer does not say so"])
                source.block("public \(types.expression(property.type, nested: nested)) \(JavaNames.errorMember(property.name))()") {
                    $0.line("return member(\(JavaNames.literal(property.name)), \(types.reader(property.type, nested: nested)));")
                }
                JavaRecords(types: types).write(
                    property.type, nested, within: ["Errors", name], about: types.description(property), isMade: false, &source)
            }
        }
    }
}
