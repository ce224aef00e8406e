import MintmarkClient
import Platform
import Synchronization

extension Mintmark {
    /// Runs Mintmark in this process, without a program and a pipe. The client behaves as with `start`.
    ///
    /// - Parameters:
    ///   - store: a file, `:memory:` for a store that is discarded with the client, or a PostgreSQL URL. Exactly one of this and `app` must
    ///     be set.
    ///   - app: the application whose store is used: `mintmark/<app>.db` in the user's data directory.
    ///   - testing: whether the store is a testing store, which has a virtual clock.
    ///   - clock: the virtual clock of a new testing store.
    ///   - timeout: the time limit of calls that do not set their own. By default, calls have no time limit.
    /// - Throws: `UsageError`.
    public static func inProcess(
        store: String? = nil, app: String? = nil, testing: Bool = false, clock: Timestamp? = nil, timeout: Duration? = nil,
        log: LogTarget = .standardError
    ) async throws -> Mintmark {
        var options = Options()
        (options.store, options.app, options.testing, options.clock) = (store, app, testing, clock)
        (options.timeout, options.log) = (timeout, log)
        return try await inProcess(options)
    }

    /// Runs Mintmark in this process with all options. Ignores the options of a process: `binary`, `arguments`, `environment` and
    /// `restart`.
    public static func inProcess(_ options: Options) async throws -> Mintmark {
        let options = options.placed
        try options.check()
        let supported = ["--account", "--caller", "--clock", "--issuer", "--master-key-file", "--region"]
        let others = options.serve.flags.map(\.flag).filter { !supported.contains($0) }
        guard others.isEmpty else {
            throw UsageError("The options \(others.joined(separator: ", ")) require a process. Use Mintmark.start.")
        }
        let mintmark = Mintmark(options) { try InProcess(options, notify: $0) }
        try mintmark.connect()
        return mintmark
    }
}

extension TestingMintmark {
    /// Runs an empty testing store in memory, in this process.
    public static func inProcess(log: Mintmark.LogTarget = .standardError) async throws -> TestingMintmark {
        var options = Mintmark.Options()
        options.log = log
        return try await inProcess(options)
    }

    /// Runs a testing store in this process. The store is in memory, unless the options name a store or an app.
    public static func inProcess(_ options: Mintmark.Options) async throws -> TestingMintmark {
        TestingMintmark(try await Mintmark.inProcess(options.forTesting))
    }
}

/// The connection to the library in this process.
final class InProcess: Connection {
    private struct State {
        var isOver = false
        var isEnding = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let name = "the library"
    let exchange: Exchange
    private let local: LocalMintmark
    private let state = Mutex(State())

    init(_ options: Mintmark.Options, notify: @escaping @Sendable (Mintmark.Notification) -> Void) throws {
        let settings = LocalSettings(
            store: options.wholeStore, app: options.app, testing: options.testing, clock: options.clock.map { Int64($0.secondsSince1970) },
            publicCaller: options.caller == "public", issuer: options.issuer, region: options.region, account: options.account,
            masterKeyFile: options.masterKeyFile)
        let other = Other()
        let exchange = Exchange(isReady: true, hooks: options.hooks, notify: notify) { other.take($0) }
        do {
            local = try LocalMintmark(settings, log: options.log.sink) { [weak exchange] lines in
                for line in lines.split(separator: UInt8(ascii: "\n")) { try? exchange?.take(UnsafeRawBufferPointer(rebasing: line)) }
            }
        } catch let error as LocalSettingsRefused { throw UsageError(error.reason) }
        self.exchange = exchange
        other.set(local)
        if !options.hooks.isEmpty { other.take(options.hooks.offer) }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    func end(within grace: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
        guard isFirst else { return }
        let deadline = Monotonic.nanoseconds() + grace.nanoseconds
        // Blocks in its own thread, because the threads of the Swift concurrency pool must not block.
        _ = Thread.start(name: "mintmark close") { [local] in local.close(deadline: deadline) { self.finish() } }
    }

    func hasEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    private func finish() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        exchange.end { ClientClosedError(method: $0) }
        for each in waiting { each.resume() }
    }

    /// The library, which is created after the exchange. A separate object, so that the library and the exchange do not retain each other.
    private final class Other: Sendable {
        private let local = Mutex<LocalMintmark?>(nil)
        func set(_ other: LocalMintmark) { local.withLock { $0 = other } }
        func take(_ line: [UInt8]) { local.withLock { $0 }?.take(line) }
    }
}
