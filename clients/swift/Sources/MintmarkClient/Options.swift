import FoundationEssentials
import Glibc

extension Mintmark {
    /// Which data are used, and how the process is run.
    public struct Options: Sendable {
        /// A file, `:memory:` for a store that ends with the process, or a PostgreSQL address. Either this or `app` is named.
        public var store: String?
        /// The application whose store is used, `mintmark/<app>.db` in the folder of the user's data.
        public var app: String?
        /// The program: a path, or a name to be looked for on PATH. Without it: `MINTMARK_BINARY`, else `mintmark`.
        public var binary: String?
        /// Whether the store is a testing store, whose clock can be turned.
        public var testing = false
        /// Where a new testing store's clock stands.
        public var clock: Timestamp?
        /// How long a call may take that says nothing itself. Without it: for ever.
        public var timeout: Duration?
        /// Whether a call starts a new process after one has died. Without it: unless the store was in memory.
        public var restart: Bool?
        /// Where the process's log goes.
        public var log = LogTarget.standardError
        /// The base of every issuer, an https URL.
        public var issuer: String?
        /// The first part of pool and identity ids. Without it: `local-1`.
        public var region: String?
        /// The account number in ARNs.
        public var account: String?
        /// A file with the master key. Without it: `<store>.key`, or `MINTMARK_MASTER_KEY` in `environment`.
        public var masterKeyFile: String?
        /// Whether only methods are offered that prove themselves by tokens, codes or passwords.
        public var publicCaller = false
        /// Further arguments of `mintmark serve`, as `mintmark serve --help` lists them.
        public var arguments: [String] = []
        /// Further environment variables.
        public var environment: [String: String] = [:]
        /// The longest request, in bytes.
        public var maxLineBytes = 1 << 20

        public init() {}
    }

    /// Where a log goes, line by line.
    public enum LogTarget: Sendable {
        /// This program's standard error.
        case standardError
        /// Nowhere. The last lines stand in `ProcessEndedError` all the same.
        case discarded
        /// Called for each line, on a thread of its own. One that waits delays no answer, only the lines after it, and the program once they pile up.
        case handler(@Sendable (String) -> Void)

        /// Takes lines with their ends; nil for one that takes none.
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

    /// - Throws: `UsageError` unless either a store or an app is named, and named with a word.
    package func check() throws(UsageError) {
        guard (store == nil) != (app == nil) else {
            throw UsageError(
                "name either a store or an app: store: \"shop.db\" is a file, store: \":memory:\" ends with the process, "
                    + "app: \"shop\" is the store of that app in the folder of the user's data")
        }
        for (name, value) in [("store", store), ("app", app), ("binary", binary)] where value?.isEmpty == true {
            throw UsageError("\(name) is empty: say which \(name == "binary" ? "program" : name) it is, or leave it out")
        }
        try checkTimeout(timeout)
    }

    var restarts: Bool { restart ?? (store != Self.inMemory) }

    var program: String { binary ?? ProcessInfo.processInfo.environment["MINTMARK_BINARY"].flatMap { $0.isEmpty ? nil : $0 } ?? "mintmark" }

    /// The store named so that another current folder, at a restart, makes no difference.
    package var wholeStore: String? {
        guard let store, store != Self.inMemory, !store.contains("://"), !store.hasPrefix("/"),
            let folder = getcwd(nil, 0)
        else { return store }
        defer { free(folder) }
        return String(cString: folder) + "/" + store
    }

    var commandLine: [String] {
        // With "=", a value may begin with "-".
        let named: [(String, String?)] = [
            ("--store", wholeStore), ("--app", app), ("--issuer", issuer), ("--region", region), ("--account", account),
            ("--master-key-file", masterKeyFile), ("--caller", publicCaller ? "public" : nil),
            ("--max-line", maxLineBytes == 1 << 20 ? nil : String(maxLineBytes)), ("--clock", clock.map { String($0.secondsSince1970) }),
            // One in `arguments` takes precedence: the last counts.
            ("--parent", String(getpid())),
        ]
        return [program, "serve"] + named.compactMap { name, value in value.map { "\(name)=\($0)" } } + (testing ? ["--testing"] : [])
            + arguments
    }

    /// What names a store in the environment would win over the options, and is left out.
    var wholeEnvironment: [String] {
        ProcessInfo.processInfo.environment.filter { $0.key != "MINTMARK_STORE" && $0.key != "MINTMARK_APP" }
            .merging(environment) { $1 }.map { "\($0)=\($1)" }
    }
}

func checkTimeout(_ timeout: Duration?) throws(UsageError) {
    if let timeout, timeout <= .zero { throw UsageError("a timeout is more than nothing; without one a call takes as long as it takes") }
}
