import ArgumentParser

/// The options of every command that serves over standard input and output.
struct ServingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Make the store be as this document declares before serving: see system.apply.", valueName: "file"),
        completion: .file())
    var apply: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("How long SIGTERM waits for what is in flight. (default: 5)", valueName: "seconds"))
    var drain: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The longest line, or message, that is read. (default: 1048576)", valueName: "bytes"))
    var maxLine: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End when this process is gone.", valueName: "pid"))
    var parent: Int32?

    @Option(
        help: ArgumentHelp("Write every message to this file, both ways and without secrets; made for its owner alone.", valueName: "file"),
        completion: .file())
    var traceFile: String?

    /// What was given on the command line.
    func add(to settings: inout ServeSettings) {
        settings.apply = apply
        settings.drain = drain
        settings.maxLine = maxLine
        settings.parent = parent
        settings.traceFile = traceFile
    }
}
