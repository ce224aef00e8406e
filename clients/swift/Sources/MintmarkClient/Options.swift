import FoundationEssentials

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Mintmark {
    /// The store of a client, and the settings of its process. The members of `ServeOptions` are also members of this type.
    @dynamicMemberLookup
    public struct Options: Sendable {
        /// The store: a file, `:memory:` for a store that is discarded when the process ends, or a PostgreSQL URL. Set this or `app`.
        /// Without both, the variable `MINTMARK_STORE` or `MINTMARK_APP` names the store, as in the commands of `mintmark run`.
        public var store: String?
        /// The application whose store is used: `mintmark/<app>.db` in the user's data directory.
        public var app: String?
        /// The program: a path, or a name that is searched for on the PATH. Defaults to `MINTMARK_BINARY`, otherwise to `mintmark`.
        public var binary: String?
        /// Whether the store is a testing store, which has a virtual clock.
        public var testing = false
        /// The time limit of calls that do not set their own. By default, calls have no time limit.
        public var timeout: Duration?
        /// Whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is in memory.
        public var restart: Bool?
        /// The destination of the process's log.
        public var log = LogTarget.standardError
        /// The functions that answer hooks.
        public var hooks = HookFunctions()
        /// Additional arguments of `mintmark serve`. To list them, run `mintmark serve --help`.
        public var arguments: [String] = []
        /// Additional environment variables of the process.
        public var environment: [String: String] = [:]
        /// The maximum size of a request, in bytes.
        public var maxLineBytes = 1 << 20

        /// The ID of a process. Mintmark exits when that process exits. Defaults to the process of the client; 0 means none.
        public var parent: Int?
        /// The other options of `mintmark serve`.
        package var serve = ServeOptions()

        public init() {}

        public subscript<Value>(dynamicMember member: WritableKeyPath<ServeOptions, Value>) -> Value {
            get { serve[keyPath: member] }
            set { serve[keyPath: member] = newValue }
        }
    }

    /// The destination of log lines.
    public enum LogTarget: Sendable {
        /// The standard error of this program.
        case standardError
        /// Discards the lines. `ProcessEndedError` still contains the last ones.
        case discarded
        /// Called for each line, in a separate thread. A handler that blocks does not delay responses. It delays later lines, and the
        /// program once too many lines are queued.
        case handler(@Sendable (String) -> Void)

        /// A function that accepts lines with their newlines; nil if the lines are discarded.
        package var sink: (@Sendable ([UInt8]) -> Void)? {
            if case .discarded = self { return nil }
            return { lines in for line in lines.split(separator: UInt8(ascii: "\n")) { take(String(decoding: line, as: UTF8.self)) } }
        }

        func take(_ line: String) {
            switch self {
            case .standardError:
                let bytes = [UInt8](line.utf8) + [UInt8(ascii: "\n")]
                bytes.withUnsafeBytes { _ = write(2, $0.baseAddress, $0.count) }
            case .discarded: break
            case .handler(let handler): handler(line)
            }
        }
    }
}

extension Mintmark.Options {
    static let inMemory = ":memory:"

    /// The options with the store that `MINTMARK_STORE` or `MINTMARK_APP` names, if they name none.
    package var placed: Self {
        guard store == nil, app == nil else { return self }
        let variables = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        var placed = self
        placed.store = variables["MINTMARK_STORE"]
        if placed.store == nil { placed.app = variables["MINTMARK_APP"] }
        return placed
    }

    /// - Throws: `UsageError` unless exactly one of store and app is set, and neither it nor the binary is empty.
    package func check() throws(UsageError) {
        guard (store == nil) != (app == nil) else {
            throw UsageError(
                "Set either store: \"shop.db\" for a file, store: \":memory:\" for a store that ends with the process, or app: \"shop\" "
                    + "for the store of an application in the user's data folder. MINTMARK_STORE and MINTMARK_APP name one, too.")
        }
        for (name, value) in [("store", store), ("app", app), ("binary", binary)] where value?.isEmpty == true {
            throw UsageError("The option \(name) is empty. Set a value, or omit the option.")
        }
        try checkTimeout(timeout)
    }

    var restarts: Bool { restart ?? (store != Self.inMemory) }

    var program: String { binary ?? ProcessInfo.processInfo.environment["MINTMARK_BINARY"].flatMap { $0.isEmpty ? nil : $0 } ?? "mintmark" }

    /// The store with an absolute path, so that a restart does not depend on the current directory.
    package var wholeStore: String? {
        guard let store, store != Self.inMemory, !store.contains("://") else { return store }
        return absolutePath(store)
    }

    var commandLine: [String] {
        // The form with "=" allows values that begin with "-".
        let named: [(String, String?)] = [
            ("--store", wholeStore), ("--app", app), ("--max-line", maxLineBytes == 1 << 20 ? nil : String(maxLineBytes)),
            // If `arguments` has the same option, that value takes precedence, because the last one counts.
            ("--parent", String(parent ?? Int(getpid()))),
        ]
        let flags = serve.flags.map { $0.value.isEmpty ? $0.flag : "\($0.flag)=\($0.value)" }
        return [program, "serve"] + named.compactMap { name, value in value.map { "\(name)=\($0)" } } + flags
            + (testing ? ["--testing"] : []) + arguments
    }

    /// The environment without the variables that name a store: they would take precedence over the options.
    var wholeEnvironment: [String] {
        ProcessInfo.processInfo.environment.filter { $0.key != "MINTMARK_STORE" && $0.key != "MINTMARK_APP" }
            .merging(environment) { $1 }.map { "\($0)=\($1)" }
    }
}

func checkTimeout(_ timeout: Duration?) throws(UsageError) {
    if let timeout, timeout <= .zero { throw UsageError("A timeout must be positive. Omit it to wait without a limit.") }
}

/// The path from the root, so that it does not depend on the current directory.
func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
}
