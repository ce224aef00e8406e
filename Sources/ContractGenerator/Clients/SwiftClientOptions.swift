/// Generates the options of `mintmark serve` that a client passes on.
struct SwiftClientOptions {
    let options: [ServeOption]

    /// Options that the client itself needs are properties of `Mintmark.Options`.
    private static let handwritten = ["app", "maxLineBytes", "parent", "store", "testing"]

    var file: GeneratedFile {
        let own = options.filter { !Self.handwritten.contains($0.name) }
        var source = SwiftSource(from: "options.json")
        source.doc("The options of `mintmark serve`. `Mintmark.Options` has them as members.")
        source.block("public struct ServeOptions: Sendable") { source in
            for option in own {
                source.doc(option.description)
                source.line("public var \(option.name): \(type(option))?")
            }
            source.line()
            source.line("init() {}")
            source.line()
            source.doc("The flags of the options that are set, with their values.")
            source.block("package var flags: [(flag: String, value: String)]") { source in
                source.line("let all: [(String, String?)] = [")
                for option in own { source.line("    (\"\(option.flag)\", \(value(option))),") }
                source.line("]")
                source.line("return all.compactMap { flag, value in value.map { (flag, $0) } }")
            }
        }
        return GeneratedFile(path: "\(SwiftClientEmitter.folder)/ServeOptions.swift", text: source.text)
    }

    private func type(_ option: ServeOption) -> String {
        switch option.kind {
        case .string, .path: "String"
        case .integer: "Int"
        case .boolean: "Bool"
        case .time: "Timestamp"
        }
    }

    /// A flag without a value has an empty one.
    private func value(_ option: ServeOption) -> String {
        switch option.kind {
        case .string: option.name
        case .path: "\(option.name).map(absolutePath)"
        case .integer: "\(option.name).map { String($0) }"
        case .boolean: "\(option.name) == true ? \"\" : nil"
        case .time: "\(option.name).map { String($0.secondsSince1970) }"
        }
    }
}
