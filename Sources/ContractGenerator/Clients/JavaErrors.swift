/// Generates an exception for each error, and the mapping from error codes to exceptions.
struct JavaErrors {
    let records: JavaRecords
    private var types: JavaTypes { records.types }

    var files: [GeneratedFile] { [table] + types.contract.errors.map(file) }

    private var table: GeneratedFile {
        var source = JavaSource(from: "errors.json")
        source.doc("Creates the exceptions for the errors that Mintmark returns.")
        source.block("public final class Errors") { source in
            source.line("private Errors() {}")
            source.line()
            source.doc(
                "{@return the exception for an error; for an error that this client does not know, an {@link ApiException}}",
                tags: ["@param response the error"])
            source.block("public static ApiException of(ErrorResponse response)") { source in
                source.line("return switch (response.code()) {")
                for error in types.contract.errors {
                    source.line("    case \(error.code) -> new \(JavaNames.error(error.type))(response);")
                }
                source.line("    default -> new ApiException(response);")
                source.line("};")
            }
        }
        return source.file("Errors")
    }

    private func file(_ error: ErrorEntry) -> GeneratedFile {
        let name = JavaNames.error(error.type)
        var source = JavaSource(from: "errors.json")
        let about = [
            "The error <code>\(error.type)</code>, \(error.code). \(JavaDocs.html(error.when))", JavaDocs.equivalents(error.equivalents),
        ]
        source.doc(about.filter { !$0.isEmpty }.joined(separator: "\n"))
        source.block("public final class \(name) extends ApiException") { source in
            source.line("private static final long serialVersionUID = 1;")
            source.line("\(name)(ErrorResponse response) { super(response); }")
            // Every error has retryAfter().
            let data = error.data.filter { $0.name != "retryAfterSeconds" }
            let members = types.members(data, within: [name], named: JavaNames.errorMember)
            for member in members {
                source.line()
                source.doc(JavaDocs.getter(types.description(member.property)))
                source.short("public \(types.result(member)) \(member.name)()", "return \(types.read(member));")
            }
            records.nested(members, path: [name], .init(isRead: true, isWritten: false, isStatic: true), &source)
        }
        return source.file(name)
    }
}
