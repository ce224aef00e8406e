/// Generates the options of `mintmark serve` that a client passes on.
struct JavaOptions {
    let options: [ServeOption]

    /// Options that the client itself needs have hand-written methods.
    private static let handwritten = ["app", "maxLineBytes", "parent", "store", "testing"]

    var file: GeneratedFile {
        var source = JavaSource(from: "options.json", package: .client)
        source.doc(
            "The options of <code>mintmark serve</code>. A null value resets an option.",
            tags: ["@param <O> the class of the options"])
        source.block("public abstract sealed class ServeOptions<O extends ServeOptions<O>> permits Options") { source in
            source.line("ServeOptions() {}")
            source.line()
            source.line("abstract O flag(String flag, Object value);")
            for option in options where !Self.handwritten.contains(option.name) {
                source.line()
                source.doc("{@return this}", tags: ["@param \(option.name) \(JavaDocs.html(option.description))"])
                source.short(
                    "public O \(option.name)(\(type(option)) \(option.name))",
                    "return flag(\(JavaNames.literal(option.flag)), \(option.name));")
            }
        }
        return source.file("ServeOptions")
    }

    private func type(_ option: ServeOption) -> String {
        switch option.kind {
        case .string: "String"
        case .integer: "Long"
        case .boolean: "Boolean"
        case .path: "Path"
        case .time: "Instant"
        }
    }
}
