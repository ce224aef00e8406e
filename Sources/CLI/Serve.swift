import Arguments
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

    func run() throws {
        var settings = ServeSettings(store: options.settings, sequential: sequential, framing: framing)
        settings.isQuiet = quiet
        serving.add(to: &settings)
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
    var isQuiet = false

    /// Serves until standard input ends.
    ///
    /// - Throws: `ValidationError` for settings that are not valid; `ExitCode` if the document cannot be applied.
    func serve() throws {
        let server = try serverOptions()
        try allowCoreDumpsIfAsked()
        let document = try (apply ?? Environment["APPLY"]).map { try ApplyFile(path: $0) }
        if !isQuiet, isatty(0) == 1 {
            Printing.err(
                "Reading JSON-RPC requests from the terminal, one per line. For an interactive session: mintmark shell. End with Ctrl-D.")
        }
        let output = Descriptors.protect()
        let mintmark = try Mintmark(store, logsTo: LogRing())
        try mintmark.serve(output: output, options: server, tracingTo: openedTraceFile()) { try document?.apply(to: $0) }
    }

    /// Serves the methods as tools of the Model Context Protocol until standard input ends. Without `admin`, the caller has the access
    /// level `public`.
    ///
    /// - Throws: The errors of `serve`.
    func serveTools(grants: Set<ToolGrant>) throws {
        var server = try serverOptions()
        try allowCoreDumpsIfAsked()
        server.framing = .lines
        server.dialect = .modelContext
        let document = try (apply ?? Environment["APPLY"]).map { try ApplyFile(path: $0) }
        let isPublic = try store.configuration().publicCaller
        if isPublic, grants.contains(.admin) {
            throw ValidationError(
                "--allow admin and --caller public exclude each other: public callers have no access to developer methods.")
        }
        let output = Descriptors.protect()
        let mintmark = try Mintmark(store, logsTo: LogRing()) { if !grants.contains(.admin) { $0.publicCaller = true } }
        let session = ModelContextSession(mintmark, grants: grants)
        try mintmark.serve(session, output: output, options: server, tracingTo: openedTraceFile()) { try document?.apply(to: $0) }
    }

    private func allowCoreDumpsIfAsked() throws {
        guard try Environment.flag("ALLOW_CORE_DUMPS", or: allowCoreDumps) else { return }
        guard try Environment.flag("TESTING", or: store.testing) else {
            throw ValidationError("--allow-core-dumps needs --testing: a core file contains every secret of the store.")
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
            guard 0...3600 ~= drain else { throw ValidationError("--drain must be between 0 and 3600 seconds.") }
            server.drainSeconds = drain
        }
        if let maxLine = try maxLine ?? Environment.integer("MAX_LINE").map({ Int($0) }) {
            guard 1024...(1 << 26) ~= maxLine else { throw ValidationError("--max-line must be between 1024 and 67108864 bytes.") }
            server.maximumLine = maxLine
        }
        server.parent = try parent ?? Environment.integer("PARENT").flatMap { Int32(exactly: $0) }
        if let parent = server.parent, parent < 0 { throw ValidationError("--parent must be a process ID, or 0 for none.") }
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
