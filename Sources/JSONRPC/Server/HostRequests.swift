import Glibc
import JSON
import Platform
import Synchronization

/// Requests from the process to its host, over the same pipe as the host's requests.
///
/// The host answers on its own time: the reading thread recognizes the answers and hands them to the waiting thread, so that no lane is
/// involved. A thread that waits is replaced by another one of its pool, so that the host can call methods before it answers.
public final class HostRequests: Sendable {
    /// The outcome of a request to the host.
    public enum Outcome: Sendable {
        case result(JSONValue)
        /// The host returned this error object.
        case error(JSONValue)
        /// The message has the ID of the request but is not a valid response.
        case malformed
        /// There was no response before the deadline.
        case timedOut
        /// There is no host, or it closed the pipe.
        case ended
        /// Too many requests are waiting for the host.
        case tooMany
        /// The caller no longer needs the outcome.
        case cancelled
    }

    /// The connection to the host.
    struct Connection: Sendable {
        /// Sends one message.
        let send: @Sendable (inout JSONWriter) -> Void
        /// Sends one message, unless too much data is unsent. Returns whether it was sent.
        let sendIfRoom: @Sendable (inout JSONWriter) -> Bool
        /// Called before and after a wait.
        let wait: @Sendable (_ begins: Bool) -> Void
    }

    private struct State {
        var connection: Connection?
        var count = 0
        /// The requests without an outcome, and those whose outcome was not taken yet.
        var pending: [String: Outcome?] = [:]

        /// Gives every request without an outcome this one.
        mutating func settle(_ outcome: Outcome) {
            for (id, known) in pending where known == nil { pending.updateValue(outcome, forKey: id) }
        }
    }

    /// The maximum number of requests that wait for the host.
    public static let maximumPending = 512

    /// The interval in which a wait looks whether its call was canceled. Hundreds of threads can wait.
    private static let cancellationCheckNanoseconds: UInt64 = 250_000_000

    private let state = ConditionLock(State())
    /// Whether a request was ever sent. Before, no message can be a response.
    private let isUsed = Atomic(false)

    public init() {}

    /// Whether there is a host that can receive requests.
    public var isConnected: Bool { state.withLock { $0.connection != nil } }

    /// The number of requests without an outcome.
    public var pendingCount: Int { state.withLock { $0.pending.count { $0.value == nil } } }

    func connect(_ connection: Connection) { state.withLock { $0.connection = connection } }

    /// Ends all requests, because no response can arrive.
    func disconnect() {
        state.withLock { state in
            state.connection = nil
            state.settle(.ended)
        }
        state.broadcast()
    }

    /// Ends the requests that wait now, as if their deadline had passed.
    public func expire() {
        state.withLock { $0.settle(.timedOut) }
        state.broadcast()
    }

    /// Sends a request, and waits on the calling thread for its outcome.
    ///
    /// - Parameters:
    ///   - params: One JSON object.
    ///   - milliseconds: The time limit.
    ///   - isCancelled: Whether the caller no longer needs the outcome. Called about 4 times a second during the wait.
    public func ask(
        _ method: String, _ params: JSONValue, within milliseconds: Int, isCancelled: @Sendable () -> Bool = { false }
    ) -> Outcome {
        let (turn, full): ((id: String, Connection)?, Bool) = state.withLock { state in
            guard let connection = state.connection else { return (nil, false) }
            guard state.pending.count < Self.maximumPending else { return (nil, true) }
            state.count += 1
            let id = "h\(state.count)"
            state.pending.updateValue(nil, forKey: id)
            return ((id, connection), false)
        }
        guard let (id, connection) = turn else { return full ? .tooMany : .ended }
        isUsed.store(true, ordering: .releasing)
        connection.wait(true)
        defer { connection.wait(false) }
        var writer = JSONWriter()
        writer.request(id: id, method, params)
        connection.send(&writer)
        let deadline = Monotonic.nanoseconds() + UInt64(milliseconds) * 1_000_000
        defer { state.withLock { _ = $0.pending.removeValue(forKey: id) } }
        while true {
            let now = Monotonic.nanoseconds()
            let turn = min(deadline, now + Self.cancellationCheckNanoseconds)
            if let outcome = state.wait(deadline: turn, until: { $0.pending[id] ?? nil }) { return outcome }
            if isCancelled() { return .cancelled }
            if now >= deadline { return .timedOut }
        }
    }

    // MARK: Responses

    /// Accepts a received message if it is a response to a request of this process. A response to an unknown request, such as a late one,
    /// is ignored.
    ///
    /// - Returns: `false` if the message is not a response.
    func accept(_ line: UnsafeRawBufferPointer) -> Bool {
        guard isUsed.load(ordering: .acquiring), Self.mayBeResponse(line), let root = try? JSONText(line).root, root.kind == .object,
            root["method"] == nil
        else { return false }
        let (result, error) = (root["result"], root["error"])
        if result == nil, error == nil { return false }
        guard let id = root["id"]?.string else { return root["id"] != nil }
        let outcome: Outcome =
            switch (result, error) {
            case (let result?, nil) where root["jsonrpc"]?.isString("2.0") == true: .result(result.value)
            case (nil, let error?) where error.kind == .object: .error(error.value)
            default: .malformed
            }
        state.withLock { state in
            if case .some(.none) = state.pending[id] { state.pending.updateValue(outcome, forKey: id) }
        }
        state.broadcast()
        return true
    }

    /// Whether the message contains the name of a member that every response has. Most requests contain neither.
    private static func mayBeResponse(_ line: UnsafeRawBufferPointer) -> Bool {
        let names: [StaticString] = ["\"result\"", "\"error\""]
        guard var rest = line.baseAddress else { return false }
        let end = rest + line.count
        while let quote = memchr(rest, Int32(UInt8(ascii: "\"")), end - rest) {
            let place = UnsafeRawPointer(quote)
            if names.contains(where: { end - place >= $0.utf8CodeUnitCount && memcmp(place, $0.utf8Start, $0.utf8CodeUnitCount) == 0 }) {
                return true
            }
            rest = place + 1
        }
        return false
    }
}

extension HostRequests {
    /// The outcome of a notification to the host.
    public enum Delivery: Sendable {
        case sent
        /// The host reads too slowly. Nothing was sent.
        case noRoom
        /// There is no host, or it closed the pipe.
        case ended
    }

    /// Sends a notification to the host.
    ///
    /// - Parameter params: A closure that writes one JSON object.
    public func notify(_ method: String, params: (inout JSONWriter) -> Void) -> Delivery {
        guard let connection = state.withLock({ $0.connection }) else { return .ended }
        var writer = JSONWriter()
        writer.notification(method, params: params)
        return connection.sendIfRoom(&writer) ? .sent : .noRoom
    }

    /// Runs `body`, which waits for another machine. Until it returns, another thread does the work of the current one, and reading
    /// continues.
    public func whileWaiting<R>(_ body: () throws -> R) rethrows -> R {
        let connection = state.withLock { $0.connection }
        connection?.wait(true)
        defer { connection?.wait(false) }
        return try body()
    }
}
