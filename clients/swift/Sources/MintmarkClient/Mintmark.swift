import JSON
import Synchronization

/// A Mintmark and its methods: a process of its own, or the library in this one. Any number of tasks may share it.
///
/// One that is let go without `close` ends its process.
public final class Mintmark: Caller {
    /// What Mintmark tells without being asked.
    public struct Notification: Sendable, Equatable {
        /// Its name, such as `$/progress` or `credentialsProvider/identityChanged`.
        public let method: String
        /// What it says; of `credentialsProvider/identityChanged` an `IdentityChange`.
        public let params: JSONObject
    }

    private struct State {
        var connection: (any Connection)?
        var isClosed = false
    }

    package let options: Options
    private let state = Mutex(State())
    private let listeners = Listeners()
    private let makeConnection: @Sendable (_ notify: @escaping @Sendable (Notification) -> Void) throws -> any Connection

    /// - Parameter connect: makes a connection, and a new one when that has ended and may be made again.
    package init(
        _ options: Options, connect: @escaping @Sendable (_ notify: @escaping @Sendable (Notification) -> Void) throws -> any Connection
    ) {
        self.options = options
        makeConnection = connect
    }

    deinit {
        state.withLock { $0.connection }?.end(within: .seconds(10))
        listeners.finish()
    }

    // MARK: Starting

    /// Starts the program on a store or for an app, and waits until it has said that it is Mintmark, and new enough.
    ///
    /// - Throws: `UsageError`, `BinaryNotFoundError`, `BinaryTooOldError`, `ProcessEndedError`, `ProtocolError`, `CallTimedOutError`.
    public static func start(_ options: Options) async throws -> Mintmark {
        try options.check()
        return try await started(Mintmark(options) { try Subprocess(options, notify: $0) })
    }

    /// `start` with the options that are needed most.
    public static func start(
        store: String? = nil, app: String? = nil, binary: String? = nil, testing: Bool = false, timeout: Duration? = nil,
        arguments: [String] = [], log: LogTarget = .standardError
    ) async throws -> Mintmark {
        var options = Options()
        (options.store, options.app, options.binary, options.testing) = (store, app, binary, testing)
        (options.timeout, options.arguments, options.log) = (timeout, arguments, log)
        return try await start(options)
    }

    /// Starts a process with a fresh testing store in memory.
    public static func testing(log: LogTarget = .standardError) async throws -> Mintmark {
        try await start(store: Options.inMemory, testing: true, log: log)
    }

    package static func started(_ mintmark: Mintmark) async throws -> Mintmark {
        do {
            try await mintmark.connection(for: "system.info").exchange.isReady(timeout: mintmark.options.timeout)
        } catch {
            // Nothing was asked of it yet.
            await mintmark.close(within: .zero)
            throw error
        }
        return mintmark
    }

    // MARK: Calls

    public func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
        try await answer(to: method, params, timeout: timeout, trace: trace, progress: nil)
    }

    func answer(
        to method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: Progress?
    ) async throws -> JSONValue {
        try checkTimeout(timeout)
        let body = try RequestBody(method, params, trace: trace, longestLine: options.maxLineBytes)
        let connection = try connection(for: method)
        let reply = try await connection.exchange.reply(to: body, method, timeout: timeout ?? options.timeout, progress: progress)
        guard let refusal = reply.refusal(of: method) else { return reply.result ?? .null }
        throw known(refusal, connection)
    }

    /// What Mintmark tells by itself from now on, in order, until it is closed.
    public var notifications: AsyncStream<Notification> { listeners.stream() }

    /// Lets Mintmark answer what it was asked, and end; what does not end within `grace` is killed. Later calls are refused.
    /// Closed twice, a process has the shorter time; the library in this process keeps the first.
    public func close(within grace: Duration = .seconds(10)) async {
        let connection = state.withLock { state in
            state.isClosed = true
            return state.connection
        }
        connection?.end(within: grace)
        await connection?.hasEnded()
        listeners.finish()
    }

    /// Makes the connection now, not with the first call.
    package func connect() throws { _ = try connection(for: "system.info") }

    private func connection(for method: String) throws -> any Connection {
        try state.withLock { state in
            if state.isClosed { throw ClientClosedError(method: method) }
            if let connection = state.connection, !(connection.isOver && options.restarts) { return connection }
            let connection = try makeConnection { [listeners] in listeners.take($0) }
            state.connection = connection
            return connection
        }
    }

    /// What an answered error means, where it is the program that lacks what this client has.
    private func known(_ answer: Answer, _ connection: any Connection) -> any Error {
        guard let isTesting = knownMethods[answer.method], answer.error is MethodNotFoundError else { return answer.error }
        guard isTesting, !options.testing else { return BinaryTooOldError(binary: connection.name, version: nil, answer: answer) }
        return Answer(
            code: answer.code, type: answer.type, message: "\(answer.method) is offered by testing processes only: pass testing: true.",
            data: answer.data, method: answer.method, trace: answer.trace
        ).error
    }
}

/// One process, or what stands for it.
package protocol Connection: AnyObject, Sendable {
    var exchange: Exchange { get }
    /// What it is called in errors.
    var name: String { get }
    /// Whether it takes no calls any more.
    var isOver: Bool { get }
    /// Lets it answer what it was asked and end; cuts it off when the time is over. Returns at once. Of several times the shortest counts
    /// for a process, the first for the library in this one.
    func end(within grace: Duration)
    /// Waits until it is gone.
    func hasEnded() async
}

/// Those who listen to notifications.
final class Listeners: Sendable {
    private struct State {
        var lastID = 0
        var all: [Int: AsyncStream<Mintmark.Notification>.Continuation] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    func stream() -> AsyncStream<Mintmark.Notification> {
        let (stream, continuation) = AsyncStream.makeStream(of: Mintmark.Notification.self)
        let id = state.withLock { state -> Int? in
            if state.isOver { return nil }
            state.lastID += 1
            state.all[state.lastID] = continuation
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.all.removeValue(forKey: id) } }
        return stream
    }

    func take(_ notification: Mintmark.Notification) {
        for listener in state.withLock({ Array($0.all.values) }) { listener.yield(notification) }
    }

    func finish() {
        let all = state.withLock { state in
            state.isOver = true
            defer { state.all = [:] }
            return Array(state.all.values)
        }
        for listener in all { listener.finish() }
    }
}
