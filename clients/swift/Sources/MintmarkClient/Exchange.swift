import JSON
import Synchronization

/// The calls of one connection and their responses.
package final class Exchange: Sendable {
    private enum Outcome: Sendable {
        case reply(Reply)
        /// The task of the caller was canceled.
        case cancelled
        case timedOut
        /// The connection has ended, for this reason.
        case failed(@Sendable (_ method: String) -> any Error)
        /// The server has identified itself.
        case ready
    }

    private struct PendingCall: Sendable {
        let outcome = OneShot<Outcome>()
        /// Whether the call has no request and only waits until the server has identified itself.
        let isForReadiness: Bool
        let progress: Mintmark.Progress?
    }

    private struct State {
        var lastID = 0
        var pending: [Int: PendingCall] = [:]
        /// Requests that are held until the server has identified itself; nil afterwards.
        var held: [[UInt8]]?
        var failure: (@Sendable (_ method: String) -> any Error)?
    }

    /// The clock for time limits stores nanoseconds in 64 bits.
    private static let longestTimeout = Duration.seconds(1 << 31)

    private let state: Mutex<State>
    private let send: @Sendable ([UInt8]) -> Void
    private let notify: @Sendable (Mintmark.Notification) -> Void
    private let hooks: Mintmark.HookFunctions

    /// - Parameters:
    ///   - isReady: whether requests can be sent immediately, or are held until `letIn`.
    ///   - hooks: answer the requests of the server.
    ///   - send: sends a line without blocking.
    package init(
        isReady: Bool, hooks: Mintmark.HookFunctions, notify: @escaping @Sendable (Mintmark.Notification) -> Void,
        send: @escaping @Sendable ([UInt8]) -> Void
    ) {
        state = Mutex(State(held: isReady ? nil : []))
        self.send = send
        self.notify = notify
        self.hooks = hooks
    }

    // MARK: Calls

    /// Sends a request and waits for its response.
    ///
    /// - Throws: `CancellationError` or `CallTimeoutError` after canceling the request on the server; the failure of the connection if it
    ///   has ended.
    func reply(to body: RequestBody, _ method: String, timeout: Duration?, progress: Mintmark.Progress? = nil) async throws -> Reply {
        guard case .reply(let reply) = try await settled(method, timeout: timeout, body, progress) else { throw CancellationError() }
        return reply
    }

    /// Waits until the server has identified itself.
    func isReady(timeout: Duration?) async throws {
        _ = try await settled("system.info", timeout: timeout, nil)
    }

    private func settled(
        _ method: String, timeout: Duration?, _ body: RequestBody?, _ progress: Mintmark.Progress? = nil
    ) async throws -> Outcome {
        try Task.checkCancellation()
        let call = PendingCall(isForReadiness: body == nil, progress: progress)
        let id = begin(call, body)
        let timer = timeout.map { timeout in
            Task {
                try await Task.sleep(for: min(timeout, Self.longestTimeout))
                giveUp(id, .timedOut)
            }
        }
        defer { timer?.cancel() }
        let outcome = await withTaskCancellationHandler {
            await call.outcome.value()
        } onCancel: {
            giveUp(id, .cancelled)
        }
        switch outcome {
        case .reply, .ready: return outcome
        case .cancelled: throw CancellationError()
        case .timedOut: throw CallTimeoutError(method: method, timeout: timeout ?? .zero)
        case .failed(let error): throw error(method)
        }
    }

    private func begin(_ call: PendingCall, _ body: RequestBody?) -> Int {
        let (id, outcome, line) = state.withLock { state -> (Int, Outcome?, [UInt8]?) in
            state.lastID += 1
            let id = state.lastID
            if let failure = state.failure { return (id, .failed(failure), nil) }
            if body == nil, state.held == nil { return (id, .ready, nil) }
            state.pending[id] = call
            let line = body?.line(id: id, isReporting: call.progress != nil)
            guard let line, state.held != nil else { return (id, nil, line) }
            state.held?.append(line)
            return (id, nil, nil)
        }
        if let outcome { call.outcome.settle(outcome) }
        if let line { send(line) }
        return id
    }

    private func giveUp(_ id: Int, _ outcome: Outcome) {
        let cancellation = RequestBody.cancellation(of: id)
        let (call, mustSend) = state.withLock { state -> (PendingCall?, Bool) in
            let call = state.pending.removeValue(forKey: id)
            if call != nil, state.held != nil { state.held?.append(cancellation) }
            return (call, call != nil && state.held == nil)
        }
        if mustSend { send(cancellation) }
        call?.outcome.settle(outcome)
    }

    // MARK: Receiving

    /// Handles a received line, without its newline.
    ///
    /// - Parameter judge: receives the response with the ID 0.
    /// - Throws: `UnexpectedValue` if the line is not valid Mintmark output; rethrows the errors of `judge`.
    package func take(_ line: UnsafeRawBufferPointer, judge: (Answer?, JSONValue?) throws -> Void = { _, _ in }) throws {
        switch try Incoming(line) {
        case .notification(let notification):
            if let progress = progress(of: notification) { progress(notification.params["value"] ?? .null) } else { notify(notification) }
        case .request(_, let method, _) where hooks.isEmpty: throw UnexpectedValue(description: "it asks for \(method)")
        case .request(let id, let method, let params):
            Task { [hooks, send] in send(await hooks.response(to: method, params, id: id)) }
        case .answer(.null, let reply) where reply.error != nil:
            // The server could not parse a line, so the error has no ID. Every waiting call fails with it.
            guard isLetIn else { throw UnexpectedValue(description: "it cannot read system.info") }
            for call in takeAll() { call.outcome.settle(.reply(reply)) }
        case .answer(let id, let reply):
            guard let id = id.int else { return }
            if id == Mintmark.HookFunctions.offerID {
                if let refusal = reply.refusal(of: "hooks.offer") { throw refusal.error }
                return letIn()
            }
            if id == 0 {
                // Only the first response identifies the server.
                if !isLetIn { try judge(reply.refusal(of: "system.info"), reply.result) }
                return
            }
            state.withLock { $0.pending.removeValue(forKey: Int(id)) }?.outcome.settle(.reply(reply))
        }
    }

    /// The progress closure of the call that a notification belongs to, if any.
    private func progress(of notification: Mintmark.Notification) -> Mintmark.Progress? {
        guard notification.method == "$/progress", let id = notification.params["token"]?.int else { return nil }
        return state.withLock { $0.pending[Int(id)]?.progress }
    }

    /// Whether the server has identified itself.
    var isLetIn: Bool { state.withLock { $0.held == nil } }

    /// Sends the held requests. Called when the server has identified itself.
    func letIn() {
        let waiting = state.withLock { state -> [PendingCall] in
            // Sent while the lock is held, so that a cancellation cannot overtake its request.
            for line in state.held ?? [] { send(line) }
            state.held = nil
            let waiting = state.pending.filter { $0.value.isForReadiness }
            for id in waiting.keys { state.pending[id] = nil }
            return Array(waiting.values)
        }
        for call in waiting { call.outcome.settle(.ready) }
    }

    /// Fails all waiting and later calls.
    package func end(_ failure: @escaping @Sendable (_ method: String) -> any Error) {
        let waiting = state.withLock { state -> [PendingCall] in
            if state.failure == nil { state.failure = failure }
            defer { state.pending = [:] }
            return Array(state.pending.values)
        }
        for call in waiting { call.outcome.settle(.failed(failure)) }
    }

    private func takeAll() -> [PendingCall] {
        state.withLock { state in
            defer { state.pending = [:] }
            return Array(state.pending.values)
        }
    }
}
