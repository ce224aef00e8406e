import Arguments
import Console
import Contract
import Glibc
import JSONRPC
import Loopback
import Mintmark
import Platform
import Synchronization

/// The options of the console, in a process of its own and in `serve`.
struct ConsoleOptions: ParsableArguments {
    @Flag(help: "Allow the console to call methods that write.")
    var write = false

    @Flag(help: "Show secrets in the results of the console.")
    var showSecrets = false

    var properties: [(name: String, property: CommandProperty)]? {
        [
            ("write", _write), ("showSecrets", _showSecrets),
        ]
    }
}

/// `mintmark console`
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Show the store in a web browser on this machine.",
        discussion: """
            Prints a URL with a token that works once, and opens it. Enter in the terminal prints another one. Listens on 127.0.0.1 only. \
            Ctrl-C ends the console.

              mintmark console --store shop.db
              mintmark console --app shop --write
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("The port on 127.0.0.1. (default: any free port)", valueName: "port"))
    var port: Int = 0

    @OptionGroup var console: ConsoleOptions

    @Option(
        help: ArgumentHelp("The trace file of the process whose requests are shown, as --trace-file of serve.", valueName: "file"),
        completion: .file())
    var traceFile: String?

    @Flag(help: "Do not open a browser.")
    var noBrowser = false

    func run() throws {
        var settings = ConsoleSettings()
        settings.port = try Self.port(port, from: "--port")
        settings.allowsWrites = console.write
        settings.showsSecrets = console.showSecrets
        settings.traceFile = traceFile
        let mintmark = try Mintmark(options.settings, logsTo: LogRing()) { $0.makesStores = false }
        if mintmark.configuration.store == .memory {
            throw ValidationError("A store in memory belongs to one process. Use mintmark serve --console.")
        }
        let end = ConditionLock(false)
        Signals.take {
            end.withLock { $0 = true }
            end.signal()
        }
        do { _ = try mintmark.services() } catch { throw Printing.failure(error) }
        settings.warnings = { ConsoleWarnings.all(mintmark) }
        let running = try Self.started(mintmark, settings)
        let isTerminal = isatty(1) == 1
        let print: @Sendable (Bool) -> Void = { opens in
            let url = running.newURL()
            try? Printing.out(url)
            if opens, let reason = Browser.open(url) { Printing.err("No browser was opened: \(reason) Open the URL yourself.") }
        }
        ConsoleSignal.listen { print(false) }
        print(isTerminal && !noBrowser)
        if isatty(0) == 1 { Self.readLines { print(false) } }
        end.wait { $0 ? () : nil }
        running.stop()
        mintmark.close()
        _exit(0)
    }

    static func port(_ given: Int, from source: String) throws -> UInt16 {
        guard let port = UInt16(exactly: given) else { throw ValidationError("\(source) must be between 0 and 65535.") }
        return port
    }

    /// - Throws: `ExitCode` 74 if the port cannot be used.
    static func started(_ mintmark: Mintmark, _ settings: ConsoleSettings) throws -> Console {
        do throws(LoopbackFailure) { return try Console(mintmark, settings) } catch {
            Printing.err(
                "\(Printing.errorWord) The console cannot listen on port \(error.port): \(error.reason). Choose another port, or 0 for any."
            )
            throw ExitCode(74)
        }
    }

    /// Calls `body` for each line of the terminal.
    private static func readLines(_ body: @escaping @Sendable () -> Void) {
        _ = Thread.start(name: "terminal") {
            var byte: UInt8 = 0
            while read(0, &byte, 1) == 1 { if byte == UInt8(ascii: "\n") { body() } }
        }
    }
}

/// SIGUSR1 asks for a new URL.
enum ConsoleSignal {
    /// Blocks the signal. Must be called before other threads start that should not receive it.
    static func listen(_ body: @escaping @Sendable () -> Void) {
        // The handler only writes a byte; the thread does the work.
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakeEnd = ends[1]
        let end = ends[0]
        signal(SIGUSR1) { _ in
            var byte: UInt8 = 0
            write(ConsoleSignal.wakeEnd, &byte, 1)
        }
        _ = Thread.start(name: "console url") {
            var byte: UInt8 = 0
            while true {
                let count = read(end, &byte, 1)
                if count == 1 { body() } else if count == 0 || errno != EINTR { return }
            }
        }
    }

    nonisolated(unsafe) private static var wakeEnd: Int32 = -1
}

/// The console of a sidecar, which begins after the trace of its requests.
final class ConsoleRecords: Sendable {
    private let console = Mutex<Console?>(nil)

    /// Receives a record of the trace.
    func take(_ record: [UInt8]) { console.withLock { $0 }?.take(traceRecord: record) }

    /// Stops the console.
    func end() { console.withLock { $0 }?.stop() }

    /// - Throws: `ExitCode` 74 if the port cannot be used.
    func begin(_ mintmark: Mintmark, _ settings: ConsoleSettings) throws {
        let console = try ConsoleCommand.started(mintmark, settings)
        self.console.withLock { $0 = console }
        Printing.err(console.newURL())
        ConsoleSignal.listen { Printing.err(console.newURL()) }
    }
}
