import ArgumentParser
import JSONRPC
import Mintmark

/// `mintmark serve`
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer requests from standard input on standard output.",
        discussion: """
            Ends when standard input ends and everything is answered, on SIGTERM, or when nobody reads the answers: with status 0, with 2 \
            if the store could not be opened (every request was answered with the reason), with 74 if the answers could not be written \
            or the input not be read.

            Requests run side by side and are answered in any order; a caller tells the answers apart by their ids, or asks for \
            --sequential.
            """)

    @OptionGroup var options: StoreOptions

    @OptionGroup var serving: ServingOptions

    @Flag(help: "Run requests strictly one after the other.")
    var sequential = false

    @Option(
        help: ArgumentHelp(
            "How messages are told apart: lines, or content-length for headers as in the Language Server Protocol. (default: lines)",
            valueName: "framing"),
        completion: .list(Framing.allCases.map(\.rawValue)))
    var framing: String?

    func run() throws {
        var settings = ServeSettings(store: options.settings, sequential: sequential, framing: framing)
        serving.add(to: &settings)
        try settings.serve()
    }
}

/// How to serve, as the command line says; what it leaves out, the environment may say.
struct ServeSettings {
    var store = StoreSettings()
    var apply: String?
    var sequential = false
    var drain: Int?
    var maxLine: Int?
    var parent: Int32?
    var framing: String?
    var traceFile: String?

    /// Serves until the end.
    ///
    /// - Throws: `ValidationError` for what makes no sense; `ExitCode` for a document that is not applied.
    func serve() throws {
        let server = try serverOptions()
        let document = try (apply ?? Environment["APPLY"]).map { try ApplyFile(path: $0) }
        let output = Descriptors.protect()
        let mintmark = try Mintmark(store, logsTo: LogRing())
        try mintmark.serve(output: output, options: server, tracingTo: openedTraceFile()) { try document?.apply(to: $0) }
    }

    /// Serves as tools of the Model Context Protocol until the end. Without `admin` the caller is the public.
    ///
    /// - Throws: as `serve`.
    func serveTools(grants: Set<ToolGrant>) throws {
        var server = try serverOptions()
        server.framing = .lines
        server.dialect = .modelContext
        let document = try (apply ?? Environment["APPLY"]).map { try ApplyFile(path: $0) }
        let isPublic = try store.configuration().publicCaller
        if isPublic, grants.contains(.admin) {
            throw ValidationError("--allow admin and --caller public exclude each other: the public does not administer.")
        }
        let output = Descriptors.protect()
        let mintmark = try Mintmark(store, logsTo: LogRing()) { if !grants.contains(.admin) { $0.publicCaller = true } }
        let session = ModelContextSession(mintmark, grants: grants)
        try mintmark.serve(session, output: output, options: server, tracingTo: openedTraceFile()) { try document?.apply(to: $0) }
    }

    /// To be called when the standard descriptors are safe: the file must not become one of them.
    private func openedTraceFile() throws -> OpenedTraceFile? {
        guard let file = GivenValue(traceFile, "--trace-file", "TRACE_FILE") else { return nil }
        do { return try OpenedTraceFile(path: file.value) } catch let error as OpenedTraceFile.Unusable {
            throw ValidationError("\(file.source): '\(file.value)' \(error.reason).")
        }
    }

    private func serverOptions() throws -> ServerOptions {
        var server = ServerOptions()
        server.sequential = try Environment.flag("SEQUENTIAL", or: sequential)
        if let drain = try drain ?? Environment.integer("DRAIN").map({ Int($0) }) {
            guard 0...3600 ~= drain else { throw ValidationError("--drain is between 0 and 3600 seconds.") }
            server.drainSeconds = drain
        }
        if let maxLine = try maxLine ?? Environment.integer("MAX_LINE").map({ Int($0) }) {
            guard 1024...(1 << 26) ~= maxLine else { throw ValidationError("--max-line is between 1024 and 67108864 bytes.") }
            server.maximumLine = maxLine
        }
        server.parent = try parent ?? Environment.integer("PARENT").flatMap { Int32(exactly: $0) }
        if let parent = server.parent, parent <= 0 { throw ValidationError("--parent is the number of a process.") }
        if let given = GivenValue(framing, "--framing", "FRAMING") {
            guard let framing = Framing(rawValue: given.value) else {
                throw ValidationError("\(given.source) is lines or content-length, not '\(given.value)'.")
            }
            server.framing = framing
        }
        return server
    }
}
