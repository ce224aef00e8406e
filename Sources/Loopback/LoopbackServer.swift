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
    private let state = Gate(State())

    private struct State {
        var isStopped = false
        var accepts = true
        var connections: Set<Int32> = []
        /// Those that have not sent a whole request, the oldest first.
        var reading: [Int32] = []
    }

    /// Listens, and answers from now on.
    ///
    /// - Parameter port: 0 for any that is free.
    public init(port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(), handler: @escaping Handler) throws(LoopbackFailure) {
        (descriptor, self.port) = try Socket.listen(port: port)
        self.limits = limits
        self.handler = handler
        Thread.start(name: "loopback") { [self] in accept() }
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
            shutdown(descriptor, Int32(SHUT_RDWR))
            // Whoever reads sees the end of its input; what is being answered can still be written.
            for connection in state.connections { shutdown(connection, Int32(SHUT_RD)) }
        }
    }

    private func accept() {
        while let connection = Socket.accept(descriptor) {
            enum Verdict { case serve, full, stopped }
            let verdict = state.withLock { state -> Verdict in
                if state.isStopped { return .stopped }
                if state.connections.count >= limits.connections {
                    // Whoever only holds a connection gives way to whoever may have something to say.
                    guard state.connections.count < 2 * limits.connections, !state.reading.isEmpty else { return .full }
                    shutdown(state.reading.removeFirst(), Int32(SHUT_RDWR))
                }
                state.connections.insert(connection)
                state.reading.append(connection)
                return .serve
            }
            switch verdict {
            case .serve: Thread.start(name: "loopback") { [self] in serve(connection) }
            case .full:
                let refusal = LoopbackResponse(status: 503, text: "Too many connections.")
                _ = Socket.write(
                    connection, refusal.bytes(keepsOpen: false, isForHead: false), deadline: Monotonic.nanoseconds() + 100_000_000)
                Glibc.close(connection)
            case .stopped: Glibc.close(connection)
            }
        }
        Glibc.close(descriptor)
        state.withLock { $0.accepts = false }
        state.broadcast()
    }

    private func serve(_ descriptor: Int32) {
        var connection = LoopbackConnection(descriptor: descriptor, limits: limits)
        while let request = connection.nextRequest() {
            state.withLock { $0.reading.removeAll { $0 == descriptor } }
            let response = handler(request)
            let goesOn = connection.keepsOpen && !state.withLock { $0.isStopped }
            guard connection.answer(response, to: request.method, keepsOpen: goesOn) else { break }
            state.withLock { $0.reading.append(descriptor) }
        }
        state.withLock { state in
            state.connections.remove(descriptor)
            state.reading.removeAll { $0 == descriptor }
            Glibc.close(descriptor)
        }
        state.broadcast()
    }
}
