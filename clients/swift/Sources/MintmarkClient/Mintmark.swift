import JSON
import Synchronization

/// A Mintmark server, in a separate process or in this one, and its methods. Safe for use by multiple tasks.
///
/// If a client is released without `close`, its process ends.
public final class Mintmark: Caller {
    /// A notification from Mintmark.
    public struct Notification: Sendable, Equatable {
        /// The name, such as `$/progress` or `credentialsProvider/identityChanged`.
        public let method: String
        /// The parameters; for `credentialsProvider/identityChanged`, an `IdentityChange`.
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

    /// - Parameter connect: opens a connection. It is called again if the connection has ended and the options allow a restart.
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

    /// Starts the program with a store or an app, and waits until it has reported a supported version.
    ///
    /// - Throws: `UsageError`, `BinaryNotFoundError`, `BinaryTooOldError`, `ProcessEndedError`, `ProtocolError`, `CallTimeoutError`.
    public static func start(_ options: Options) async throws -> Mintmark {
        let options = options.placed
        try options.check()
        return try await started(Mintmark(options) { try Subprocess(options, notify: $0) })
    }

    /// Starts the program with the most frequently used options.
    public static func start(
        store: String? = nil, app: String? = nil, binary: String? = nil, testing: Bool = false, timeout: Duration? = nil,
        arguments: [String] = [], log: LogTarget = .standardError
    ) async throws -> Mintmark {
        var options = Options()
        (options.store, options.app, options.binary, options.testing) = (store, app, binary, testing)
        (options.timeout, options.arguments, options.log) = (timeout, arguments, log)
        return try await start(options)
    }

    package static func started(_ mintmark: Mintmark) async throws -> Mintmark {
        do {
            try await mintmark.connection(for: "system.info").exchange.isReady(timeout: mintmark.options.timeout)
        } catch {
            // No call was sent yet, so the process can be killed.
            await mintmark.close(within: .zero)
            throw error
        }
        return mintmark
    }

    // MARK: Calls

    public func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
        try await answer(to: method, params, timeout: timeout, trace: trace, progress: nil)
    }

    public func answer(
        to method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: @escaping @Sendable (JSONValue) -> Void
    ) async throws -> JSONValue {
        try await answer(to: method, params, timeout: timeout, trace: trace, progress: Optional(progress))
    }

    private func answer(
        to method: String, _ params: JSONObject, timeout: Duration?, trace: String?, progress: Progress?
    ) async throws -> JSONValue {
        try checkTimeout(timeout)
        let body = try RequestBody(method, params, trace: trace, longestLine: options.maxLineBytes)
        let connection = try connection(for: method)
        let reply = try await connection.exchange.reply(to: body, method, timeout: timeout ?? options.timeout, progress: progress)
        guard let refusal = reply.refusal(of: method) else { return reply.result ?? .null }
        throw known(refusal, connection)
    }

    /// The notifications that arrive after this call, in order, until the client is closed.
    public var notifications: AsyncStream<Notification> { listeners.stream() }

    /// Lets Mintmark finish the requests that it has received, then ends it. A process is killed after `grace`. Later calls fail with
    /// `ClientClosedError`. If `close` is called twice, the shorter time applies to a process, and the first one to the library in this
    /// process.
    public func close(within grace: Duration = .seconds(10)) async {
        let connection = state.withLock { state in
            state.isClosed = true
            return state.connection
        }
        connection?.end(within: grace)
        await connection?.hasEnded()
        listeners.finish()
    }

    /// Opens the connection immediately instead of with the first call.
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

    /// Converts an error of Mintmark. Returns `BinaryTooOldError` if the program lacks a method that this client has.
    private func known(_ answer: Answer, _ connection: any Connection) -> any Error {
        guard let isTesting = knownMethods[answer.method], answer.error is MethodNotFoundError else { return answer.error }
        guard isTesting, !options.testing else { return BinaryTooOldError(binary: connection.name, version: nil, answer: answer) }
        return Answer(
            code: answer.code, type: answer.type,
            message: "\(answer.method) requires a testing store. Start the client with TestingMintmark.",
            data: answer.data, method: answer.method, trace: answer.trace
        ).error
    }
}

/// A connection to one process, or to the library in this process.
package protocol Connection: AnyObject, Sendable {
    var exchange: Exchange { get }
    /// The name that error messages use.
    var name: String { get }
    /// Whether the connection no longer accepts calls.
    var isOver: Bool { get }
    /// Lets the server finish the requests that it has received, then ends it. Ends it forcibly after `grace`. Returns immediately. If
    /// called more than once, the shortest time applies to a process, and the first one to the library in this process.
    func end(within grace: Duration)
    /// Waits until the connection has ended.
    func hasEnded() async
}

/// The streams that receive notifications.
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
