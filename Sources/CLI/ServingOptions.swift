import Arguments

/// The options of every command that serves over standard input and output.
struct ServingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The path of a document that the store must match before requests are served, as in system.apply.", valueName: "file"),
        completion: .file())
    var apply: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The maximum time that SIGTERM waits for requests in progress. (default: 5)", valueName: "seconds"))
    var drain: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The maximum length of a request, in bytes. (default: 1048576)", valueName: "bytes"))
    var maxLine: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Exit when the process with this PID exits.", valueName: "pid"))
    var parent: Int32?

    @Option(
        help: ArgumentHelp(
            "The path of a file to which every message is written, without secrets. Only this user can read it.", valueName: "file"),
        completion: .file())
    var traceFile: String?

    @Flag(help: "Allow core files and debuggers, for debugging; only with --testing, since they show every secret.")
    var allowCoreDumps = false

    var properties: [(name: String, property: CommandProperty)]? {
        [
            ("apply", _apply), ("drain", _drain), ("maxLine", _maxLine), ("parent", _parent), ("traceFile", _traceFile),
            ("allowCoreDumps", _allowCoreDumps),
        ]
    }

    /// Copies the values given on the command line.
    func add(to settings: inout ServeSettings) {
        settings.apply = apply
        settings.drain = drain
        settings.maxLine = maxLine
        settings.parent = parent
        settings.traceFile = traceFile
        settings.allowCoreDumps = allowCoreDumps
    }
}
