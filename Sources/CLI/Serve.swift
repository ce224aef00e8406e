import Arguments
import Console
import Glibc
import JSONRPC
import Mintmark
import Platform

/// `mintmark serve`
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Process requests from standard input and write responses to standard output.",
        discussion: """
            Exits when standard input has ended and all responses are written, on SIGTERM, or when the responses are no longer read. \
            Exit status 0: success. Exit status 2: the store could not be opened; every request failed with the reason. Exit status 74: \
            input or output failed.

            Requests run concurrently, and responses are written in any order; the caller assigns them by id. --sequential preserves \
            the order.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var serving: ServingOptions

    @Flag(help: "Run requests strictly one after another.")
    var sequential = false

    @Flag(help: "Print no note if standard input is a terminal.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "The framing of messages: lines, or content-length for headers as in the Language Server Protocol. (default: lines)",
            valueName: "framing"),
        completion: .list(Framing.allCases.map(\.rawValue)))
    var framing: String?

    @Option(
        defaultAsFlag: 0,
        help: ArgumentHelp("Also serve the web console on this port of 127.0.0.1. Its URL is printed on standard error.", valueName: "port")
    )
    var console: Int?

    @OptionGroup var consoleOptions: ConsoleOptions

    var properties: [(name: String, property: CommandProperty)]? {
        [
            ("options", _options), ("serving", _serving), ("sequential", _sequential), ("quiet", _quiet), ("framing", _framing),
            ("console", _console), ("consoleOptions", _consoleOptions),
        ]
    }

    func run() throws {
        var settings = ServeSettings(store: options.settings, sequential: sequential, framing: framing)
        settings.isQuiet = quiet
        serving.add(to: &settings)
        settings.console = console
        settings.consoleWrites = consoleOptions.write
        settings.consoleShowsSecrets = consoleOptions.showSecrets
        try settings.serve()
    }
}

/// The settings for serving from the command line, with the environment as the fallback.
struct ServeSettings {
    var store = StoreSettings()
    var apply: String?
    var sequential = false
    var drain: Int?
    var maxLine: Int?
    var parent: Int32?
    var framing: String?
    var traceFile: String?
    var allowCoreDumps = false
    /// The port of the web console, or `nil` for none.
    var console: Int?
    var consoleWrites = false
    var consoleShowsSecrets = false
    var isQuiet = false

    /// Serves until standard input ends.
    ///
    /// - Throws: `ValidationError` for settings that are not valid; `ExitCode` if the document cannot be applied.
    func serve() throws {
        let server = try serverOptions()
        try allowCoreDumpsIfAsked()
        let document = try OptionValue(apply, "--apply", "APPLY").map { try ApplyFile($0) }
        if !isQuiet, isatty(0) == 1 {
            Printing.err(
                "Reading JSON-RPC requests from the terminal, one per line. For an interactive session: mintmark shell. End with Ctrl-D.")
        }
        let output = Descriptors.protect()
        let mintmark = try Mintmark(store, logsTo: LogRing())
        let console = try consoleSettings(mintmark).map { (log: ConsoleRecords(), settings: $0) }
        try mintmark.serve(
            output: output, options: server,
            tracingTo: TraceOutputs(
                file: openedTraceFile(), watch: console.map { TraceWatch($0.log.take, finish: $0.log.end) })
        ) { mintmark in
            try document?.apply(to: mintmark)
            if let console { try console.log.begin(mintmark, console.settings) }
        }
    }

    /// Serves the methods as tools of the Model Context Protocol until standard input ends.
    ///
    /// - Throws: The errors of `serve`; `ValidationError` if the selection of tools is not valid.
    func serveTools(_ tools: ToolSettings) throws {
        var server = try serverOptions()
        try allowCoreDumpsIfAsked()
        server.framing = .lines
        server.dialect = .modelContext
        let document = try OptionValue(apply, "--apply", "APPLY").map { try ApplyFile($0) }
        let output = Descriptors.protect()
        let mintmark = try Mintmark(store, logsTo: LogRing())
        let session: ModelContextSession
        do {
            session = try ModelContextSession(mintmark, settings: tools) {
                Documentation().topics.map { ModelContextGuide(name: $0.name, title: $0.title, text: $0.text) }
            }
        } catch {
            throw ValidationError(error.message)
        }
        try mintmark.serve(session, output: output, options: server, tracingTo: TraceOutputs(file: openedTraceFile())) {
            try document?.apply(to: $0)
        }
    }

    /// - Throws: `ValidationError` for options that exclude each other.
    private func consoleSettings(_ mintmark: Mintmark) throws -> ConsoleSettings? {
        guard let port = try console ?? Environment.integer("CONSOLE").map({ Int($0) }) else {
            guard !consoleWrites, !consoleShowsSecrets else {
                throw ValidationError("--write and --show-secrets are options of the console: add --console.")
            }
            return nil
        }
        if mintmark.configuration.publicCaller {
            let sources = [
                OptionValue.source("--console", isGiven: console != nil), OptionValue.source("--caller", isGiven: store.caller != nil),
            ]
            throw ValidationError("\(sources[0]) and \(sources[1]) public exclude each other: the console has full access.")
        }
        var settings = ConsoleSettings()
        settings.port = try ConsoleCommand.port(port, from: OptionValue.source("--console", isGiven: console != nil))
        settings.allowsWrites = consoleWrites
        settings.showsSecrets = consoleShowsSecrets
        settings.isSidecar = true
        settings.warnings = { ConsoleWarnings.all(mintmark) }
        return settings
    }

    private func allowCoreDumpsIfAsked() throws {
        guard try Environment.flag("ALLOW_CORE_DUMPS", or: allowCoreDumps) else { return }
        guard try Environment.flag("TESTING", or: store.testing) else {
            let source = OptionValue.source("--allow-core-dumps", isGiven: allowCoreDumps)
            throw ValidationError("\(source) requires --testing: a core file contains every secret of the store.")
        }
        ProcessMemory.allowCoreDumps()
    }

    /// Opens the trace file. Call it after the standard descriptors are protected: the file must not become one of them.
    private func openedTraceFile() throws -> OpenedTraceFile? {
        guard let file = OptionValue(traceFile, "--trace-file", "TRACE_FILE") else { return nil }
        do throws(OpenedTraceFile.Unusable) { return try OpenedTraceFile(path: file.value) } catch {
            throw ValidationError("\(file.source): '\(file.value)' \(error.reason).")
        }
    }

    private func serverOptions() throws -> ServerOptions {
        var server = ServerOptions()
        server.sequential = try Environment.flag("SEQUENTIAL", or: sequential)
        if let drain = try drain ?? Environment.integer("DRAIN").map({ Int($0) }) {
            guard 0...3600 ~= drain else {
                throw ValidationError("\(OptionValue.source("--drain", isGiven: self.drain != nil)) must be between 0 and 3600 seconds.")
            }
            server.drainSeconds = drain
        }
        if let maxLine = try maxLine ?? Environment.integer("MAX_LINE").map({ Int($0) }) {
            guard 1024...(1 << 26) ~= maxLine else {
                let source = OptionValue.source("--max-line", isGiven: self.maxLine != nil)
                throw ValidationError("\(source) must be between 1024 and 67108864 bytes.")
            }
            server.maximumLine = maxLine
        }
        server.parent = try parent ?? Environment.integer("PARENT").flatMap { Int32(exactly: $0) }
        if let parent = server.parent, parent < 0 {
            throw ValidationError("\(OptionValue.source("--parent", isGiven: self.parent != nil)) must be a process ID, or 0 for none.")
        }
        if server.parent == 0 { server.parent = nil }
        if let given = OptionValue(framing, "--framing", "FRAMING") {
            guard let framing = Framing(rawValue: given.value) else {
                throw ValidationError("\(given.source) must be lines or content-length, not '\(given.value)'.")
            }
            server.framing = framing
        }
        return server
    }
}
