/// Generates the options of `mintmark serve` that a client passes on.
struct NodeOptions {
    let options: [ServeOption]

    var script: GeneratedFile {
        var source = NodeSource(from: "options.json")
        source.line("// The flag of each option.")
        source.block("export const flags = {", end: "};") { source in
            for option in options { source.line("\(option.name): \(NodeSource.literal(option.flag)),") }
        }
        return source.file("options.js")
    }

    var declarations: GeneratedFile {
        var source = NodeSource(from: "options.json")
        source.doc("The options of `mintmark serve`, except `store` and `app`.")
        source.block("export interface ServeOptions {", end: "}") { source in
            for option in options where !["store", "app"].contains(option.name) {
                source.doc(option.description + (option.kind == .time ? " In seconds since 1970-01-01 UTC." : ""))
                source.line("\(option.name)?: \(type(option));")
            }
        }
        return source.file("options.d.ts")
    }

    private func type(_ option: ServeOption) -> String {
        switch option.kind {
        case .string where !option.values.isEmpty: option.values.map(NodeSource.literal).joined(separator: " | ")
        case .string, .path: "string"
        case .integer, .time: "number"
        case .boolean: "boolean"
        }
    }
}
