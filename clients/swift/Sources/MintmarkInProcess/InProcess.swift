import MintmarkClient
import Platform
import Synchronization

extension Mintmark {
    /// A Mintmark in this process: no program, no pipe. Everything else is as with `start`.
    ///
    /// - Parameters:
    ///   - store: a file, `:memory:` for a store that ends with the client, or a PostgreSQL address. Either this or `app` is named.
    ///   - app: the application whose store is used, `mintmark/<app>.db` in the folder of the user's data.
    ///   - testing: whether the store is a testing store, whose clock can be turned.
    ///   - clock: where a new testing store's clock stands.
    ///   - timeout: how long a call may take that says nothing itself. Without it: for ever.
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

    /// The same with all options. Those that say how a process is run, `binary`, `arguments`, `environment` and `restart`, mean nothing here.
    public static func inProcess(_ options: Options) async throws -> Mintmark {
        try options.check()
        let mintmark = Mintmark(options) { try InProcess(options, notify: $0) }
        try mintmark.connect()
        return mintmark
    }

    /// A fresh testing store in memory, in this process.
    public static func testingInProcess(log: LogTarget = .standardError) async throws -> Mintmark {
        try await inProcess(store: ":memory:", testing: true, log: log)
    }
}

/// The library in this process, as the client's other end.
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
            publicCaller: options.publicCaller, issuer: options.issuer, region: options.region, account: options.account,
            masterKeyFile: options.masterKeyFile)
        let other = Other()
        let exchange = Exchange(isReady: true, notify: notify) { other.take($0) }
        do {
            local = try LocalMintmark(settings, log: options.log.sink) { [weak exchange] lines in
                for line in lines.split(separator: UInt8(ascii: "\n")) { try? exchange?.take(UnsafeRawBufferPointer(rebasing: line)) }
            }
        } catch let error as LocalSettingsRefused { throw UsageError(error.reason) }
        self.exchange = exchange
        other.set(local)
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    func end(within grace: Duration) {
        let isFirst = state.withLock { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
        guard isFirst else { return }
        let deadline = Monotonic.nanoseconds() + grace.nanoseconds
        // What waits does so on a thread of its own, not on one that the language shares among all tasks.
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

    /// The other end, which is made later, and is told apart from this one so that neither keeps the other.
    private final class Other: Sendable {
        private let local = Mutex<LocalMintmark?>(nil)
        func set(_ other: LocalMintmark) { local.withLock { $0 = other } }
        func take(_ line: [UInt8]) { local.withLock { $0 }?.take(line) }
    }
}
