import ArgumentParser
import Glibc
import JSONRPC
import Logging
import Mintmark

/// `mintmark serve`
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer requests from standard input on standard output. (default)",
        discussion: "Ends with status 0 when standard input ends and everything is answered, on SIGTERM, or when nobody reads the answers.")

    @OptionGroup var options: StoreOptions

    @Flag(help: "Run requests strictly one after the other.")
    var sequential = false

    @Option(help: ArgumentHelp("How long SIGTERM waits for what is in flight. (default: 5)", valueName: "seconds"))
    var drain: Int?

    @Option(help: ArgumentHelp("The longest line that is read. (default: 1048576)", valueName: "bytes"))
    var maxLine: Int?

    @Option(help: ArgumentHelp("End when this process is gone.", valueName: "pid"))
    var parent: Int32?

    func run() throws {
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
        let output = Descriptors.protect()
        let mintmark = try Mintmark(options: options, logsTo: LogRing())
        mintmark.serve(output: output, options: server)
    }
}

extension Mintmark {
    /// A Mintmark as the options say.
    convenience init(options: StoreOptions, logsTo ring: LogRing?) throws {
        let name = options.logLevel ?? Environment["LOG_LEVEL"] ?? "info"
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("--log-level is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")), not '\(name)'.")
        }
        self.init(try options.configuration(), logRing: ring, logLevel: level)
    }
}
