import JSON
import Synchronization

/// The calls over one connection, and their answers.
package final class Exchange: Sendable {
    private enum Outcome: Sendable {
        case reply(Reply)
        /// The caller gave it up.
        case cancelled
        case timedOut
        /// The other side is gone, for this reason.
        case failed(@Sendable (_ method: String) -> any Error)
        /// The other side may be asked.
        case ready
    }

    private struct PendingCall: Sendable {
        let outcome = OneShot<Outcome>()
        /// Whether it asks for nothing, and waits only until the other side may be asked.
        let isForReadiness: Bool
        let progress: Mintmark.Progress?
    }

    private struct State {
        var lastID = 0
        var pending: [Int: PendingCall] = [:]
        /// Requests that wait until the other side has said who it is; nil once it has.
        var held: [[UInt8]]?
        var failure: (@Sendable (_ method: String) -> any Error)?
    }

    /// The clock that counts time limits counts no more than nanoseconds of 64 bits.
    private static let longestTimeout = Duration.seconds(1 << 31)

    private let state: Mutex<State>
    private let send: @Sendable ([UInt8]) -> Void
    private let notify: @Sendable (Mintmark.Notification) -> Void

    /// - Parameters:
    ///   - isReady: whether requests may be sent already, or have to wait for `letIn`.
    ///   - send: sends a line; never waits.
    package init(
        isReady: Bool, notify: @escaping @Sendable (Mintmark.Notification) -> Void, send: @escaping @Sendable ([UInt8]) -> Void
    ) {
        state = Mutex(State(held: isReady ? nil : []))
        self.send = send
        self.notify = notify
    }

    // MARK: Calls

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: `CancellationError` and `CallTimedOutError`, after which the other side knows that nobody waits; why it is gone.
    func reply(to body: RequestBody, _ method: String, timeout: Duration?, progress: Mintmark.Progress? = nil) async throws -> Reply {
        guard case .reply(let reply) = try await settled(method, timeout: timeout, body, progress) else { throw CancellationError() }
        return reply
    }

    /// Waits until the other side has said who it is.
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
        case .timedOut: throw CallTimedOutError(method: method, timeout: timeout ?? .zero)
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

    // MARK: The other side

    /// Takes a line that came, without its end.
    ///
    /// - Parameter judge: gets the answer that has the id 0.
    /// - Throws: `UnexpectedValue` if Mintmark does not write such lines; what `judge` throws.
    package func take(_ line: UnsafeRawBufferPointer, judge: (Answer?, JSONValue?) throws -> Void = { _, _ in }) throws {
        switch try Incoming(line) {
        case .notification(let notification):
            if let progress = progress(of: notification) { progress(notification.params["value"] ?? .null) } else { notify(notification) }
        case .answer(.null, let reply) where reply.error != nil:
            // It could not read a line and does not know whose it was: no call may wait for ever.
            guard isLetIn else { throw UnexpectedValue(description: "it cannot read system.info") }
            for call in takeAll() { call.outcome.settle(.reply(reply)) }
        case .answer(let id, let reply):
            guard let id = id.int else { return }
            if id == 0 {
                // Who it is, it says once.
                if !isLetIn { try judge(reply.refusal(of: "system.info"), reply.result) }
                return
            }
            state.withLock { $0.pending.removeValue(forKey: Int(id)) }?.outcome.settle(.reply(reply))
        }
    }

    /// Who gets it, if it tells of the progress of a call that waits.
    private func progress(of notification: Mintmark.Notification) -> Mintmark.Progress? {
        guard notification.method == "$/progress", let id = notification.params["token"]?.int else { return nil }
        return state.withLock { $0.pending[Int(id)]?.progress }
    }

    /// Whether the other side has said who it is.
    var isLetIn: Bool { state.withLock { $0.held == nil } }

    /// Sends what was held: the other side has said who it is.
    func letIn() {
        let waiting = state.withLock { state -> [PendingCall] in
            // Within the lock: a cancellation must not overtake its request.
            for line in state.held ?? [] { send(line) }
            state.held = nil
            let waiting = state.pending.filter { $0.value.isForReadiness }
            for id in waiting.keys { state.pending[id] = nil }
            return Array(waiting.values)
        }
        for call in waiting { call.outcome.settle(.ready) }
    }

    /// Fails every call that waits, and those to come.
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
