import Arguments
import Contract

/// `mintmark methods`
struct Methods: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List all methods with their summaries.")

    @Flag(help: "List only the methods that are available with --caller public.")
    var `public` = false

    @OptionGroup var output: ColorOption

    func run() throws {
        try Self.list(Contract.MethodTable.all.filter { !`public` || $0.caller == .public })
    }

    /// Prints one line per method.
    static func list(_ methods: [MethodInfo]) throws {
        let width = methods.map(\.name.count).max() ?? 0
        for method in methods {
            let padding = String(repeating: " ", count: width - method.name.count)
            let marks = [method.caller == .public ? "public" : nil, method.isTesting ? "with --testing" : nil].compactMap { $0 }
            let note = marks.isEmpty ? "" : Printing.dim("  (\(marks.joined(separator: ", ")))")
            try Printing.out("\(Printing.bold(method.name))\(padding)  \(method.summary)\(note)")
        }
    }
}
