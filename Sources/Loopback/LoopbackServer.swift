import Glibc
import Platform

/// A small HTTP/1.1 server for this machine alone: it listens on 127.0.0.1 and answers requests that are addressed there.
///
/// One thread accepts, each connection has one of its own; the handler runs on them, several at a time.
public final class LoopbackServer: Sendable {
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// Where it listens.
    public let port: UInt16
    private let descriptor: Int32
    private let limits: LoopbackLimits
    private let handler: Handler
    private let startThread: ThreadStarter
    private let state = Gate(State())

    /// Starts a thread that runs `body`; answers 0, or the system's number for why it cannot.
    typealias ThreadStarter = @Sendable (_ body: @escaping @Sendable () -> Void) -> Int32

    private struct State {
        var isStopped = false
        var accepts = true
        var connections: Set<Int32> = []
        /// Those from which nothing has come, or nothing since their last answer, and since when in nanoseconds; the oldest first.
        var quiet: [(connection: Int32, since: UInt64, wasAnswered: Bool)] = []
        /// Whether somebody waits for room: then no connection is kept open after an answer.
        var isFull = false
    }

    /// How long an answered connection has nothing to say before it gives way, and one that has never said anything, in nanoseconds.
    private static let patience: (answered: UInt64, silent: UInt64) = (1_000_000_000, 2_000_000_000)

    /// Listens, and answers from now on.
    ///
    /// - Parameter port: 0 for any that is free.
    public convenience init(
        port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(), handler: @escaping Handler
    ) throws(LoopbackFailure) {
        try self.init(port: port, limits: limits, startThread: { Thread.tryStart(name: "loopback", $0) }, handler: handler)
    }

    init(
        port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(), startThread: @escaping ThreadStarter, handler: @escaping Handler
    ) throws(LoopbackFailure) {
        (descriptor, self.port) = try Socket.listen(port: port)
        self.limits = limits
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

    /// Stops listening, lets requests that are being answered come to their end, and returns when they have, or after `seconds`.
    public func stop(within seconds: UInt64 = 5) {
        close()
        _ = state.wait(deadline: Monotonic.nanoseconds() + seconds * 1_000_000_000) { $0.connections.isEmpty && !$0.accepts ? () : nil }
    }

    /// Stops listening and returns at once; requests that are being answered come to their end.
    public func close() {
        state.withLock { state in
            if state.isStopped { return }
            state.isStopped = true
            // Once it is closed, its number may be somebody else's.
            if state.accepts { shutdown(descriptor, Int32(SHUT_RDWR)) }
            // Whoever reads sees the end of its input; what is being answered can still be written.
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
            // Whoever comes while there are no threads is turned away; those who are being served are not.
            if startThread({ [self] in serve(connection) }) != 0 { end(connection) }
        }
        state.withLock { state in
            state.accepts = false
            Glibc.close(descriptor)
        }
        state.broadcast()
    }

    /// Waits until there is room for a connection; the others wait in the queue of the operating system meanwhile. False when stopped.
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

    /// Ends the connection that has been quiet for longest: what it has sent by now is still answered.
    private func letGo(_ state: inout State) {
        let now = Monotonic.nanoseconds()
        let place = state.quiet.firstIndex { now - $0.since > ($0.wasAnswered ? Self.patience.answered : Self.patience.silent) }
        guard let place else { return }
        shutdown(state.quiet.remove(at: place).connection, Int32(SHUT_RD))
    }

    private func serve(_ descriptor: Int32) {
        var connection = LoopbackConnection(descriptor: descriptor, limits: limits)
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
