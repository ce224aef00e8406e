import Glibc
import Platform

/// A small HTTP/1.1 server for this machine only. It listens on 127.0.0.1 and accepts only requests that are addressed to a loopback host.
///
/// One thread accepts connections, and each connection has its own thread. The handler runs on these threads, several at a time.
public final class LoopbackServer: Sendable {
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse
    /// Decides about a request without its body. `bodyBytes` is the stated length of the body, or `nil` if it is chunked.
    public typealias Gate = @Sendable (_ head: LoopbackRequest, _ bodyBytes: Int?) -> LoopbackAdmission

    /// The port on which the server listens.
    public let port: UInt16
    private let descriptor: Int32
    private let limits: LoopbackLimits
    private let handler: Handler
    private let gate: Gate?
    private let startThread: ThreadStarter
    private let state = ConditionLock(State())

    /// Starts a thread that runs `body`. Returns 0, or the `errno` value of the failure.
    typealias ThreadStarter = @Sendable (_ body: @escaping @Sendable () -> Void) -> Int32

    private struct State {
        var isStopped = false
        var accepts = true
        var connections: Set<Int32> = []
        /// The connections that have sent nothing yet, or nothing since their last response, oldest first. `since` is in nanoseconds.
        var quiet: [(connection: Int32, since: UInt64, wasAnswered: Bool)] = []
        /// Whether a new connection waits for room. Connections are then closed after the next response.
        var isFull = false
    }

    /// The idle time after which a connection can be closed to make room, in nanoseconds: after a response, and before the first request.
    private static let patience: (answered: UInt64, silent: UInt64) = (1_000_000_000, 2_000_000_000)

    /// Starts listening and responding.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for any free port.
    ///   - gate: Decides about each request before the server checks its host and reads its body, or `nil`.
    public convenience init(
        port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(), gate: Gate? = nil, handler: @escaping Handler
    ) throws(LoopbackFailure) {
        try self.init(port: port, limits: limits, gate: gate, startThread: { Thread.tryStart(name: "loopback", $0) }, handler: handler)
    }

    init(
        port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(), gate: Gate? = nil, startThread: @escaping ThreadStarter,
        handler: @escaping Handler
    ) throws(LoopbackFailure) {
        (descriptor, self.port) = try Socket.listen(port: port)
        self.limits = limits
        self.gate = gate
        self.handler = handler
        self.startThread = startThread
        let reason = startThread { [self] in accept() }
        guard reason == 0 else {
            Glibc.close(descriptor)
            throw LoopbackFailure(port: Int(port), reason: "a thread could not be started: \(String(cString: strerror(reason)))")
        }
    }

    /// `http://127.0.0.1:<port>`.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Stops listening and waits for the requests in progress, at most `seconds`.
    public func stop(within seconds: UInt64 = 5) {
        close()
        _ = state.wait(deadline: Monotonic.nanoseconds() + seconds * 1_000_000_000) { $0.connections.isEmpty && !$0.accepts ? () : nil }
    }

    /// Stops listening and returns immediately. Requests in progress are completed.
    public func close() {
        state.withLock { state in
            if state.isStopped { return }
            state.isStopped = true
            // After the descriptor is closed, its number can belong to another file.
            if state.accepts { shutdown(descriptor, Int32(SHUT_RDWR)) }
            // Readers see the end of the input; responses can still be written.
            for connection in state.connections { shutdown(connection, Int32(SHUT_RD)) }
        }
        state.broadcast()
    }

    private func accept() {
        while let connection = Socket.accept(descriptor) {
            guard makeRoom(for: connection) else {
                Glibc.close(connection)
                continue
            }
            // If no thread can be started, the new connection is closed. Existing connections are not affected.
            if startThread({ [self] in serve(connection) }) != 0 { end(connection) }
        }
        state.withLock { state in
            state.accepts = false
            Glibc.close(descriptor)
        }
        state.broadcast()
    }

    /// Waits until there is room for a connection; further connections wait in the queue of the operating system. Returns `false` if the
    /// server is stopped.
    private func makeRoom(for connection: Int32) -> Bool {
        while true {
            let answer = state.wait(deadline: Monotonic.nanoseconds() + 50_000_000) { state -> Bool? in
                state.isFull = false
                if state.isStopped { return false }
                if state.connections.count < limits.connections {
                    state.connections.insert(connection)
                    state.quiet.append((connection, Monotonic.nanoseconds(), false))
                    return true
                }
                state.isFull = true
                letGo(&state)
                return nil
            }
            if let answer { return answer }
        }
    }

    /// Ends the connection that has been idle for the longest time. Requests that it has already sent are still processed.
    private func letGo(_ state: inout State) {
        let now = Monotonic.nanoseconds()
        let place = state.quiet.firstIndex { now - $0.since > ($0.wasAnswered ? Self.patience.answered : Self.patience.silent) }
        guard let place else { return }
        shutdown(state.quiet.remove(at: place).connection, Int32(SHUT_RD))
    }

    private func serve(_ descriptor: Int32) {
        var connection = LoopbackConnection(descriptor: descriptor, limits: limits, gate: gate)
        let speaks = { self.state.withLock { $0.quiet.removeAll { $0.connection == descriptor } } }
        while let request = connection.nextRequest(whenItBegins: speaks) {
            let response = handler(request)
            let goesOn = connection.keepsOpen && !state.withLock { $0.isStopped || $0.isFull }
            guard connection.answer(response, to: request.method, keepsOpen: goesOn) else { break }
            state.withLock { $0.quiet.append((descriptor, Monotonic.nanoseconds(), true)) }
        }
        end(descriptor)
    }

    private func end(_ descriptor: Int32) {
        state.withLock { state in
            state.connections.remove(descriptor)
            state.quiet.removeAll { $0.connection == descriptor }
            Glibc.close(descriptor)
        }
        state.broadcast()
    }
}
