import JSON
import Platform
import Synchronization

/// A call of a method, from the parsing of its envelope until its response.
///
/// A call gets exactly one response: from its method, its cancellation or the shutdown of the process, whichever claims it first.
public final class Call: Sendable {
    enum State: UInt8 { case queued, running, suspended, answered }

    /// The parsed request.
    let envelope: Envelope
    let calledMethod: Method
    let arrival: Arrival
    private let outlet: any AnswerOutlet
    private let state = Atomic<UInt8>(State.queued.rawValue)
    private let currentLane: Atomic<UInt8>
    private let cancelRequested = Atomic(false)
    private let committed = Atomic(false)
    private let proceeds = Atomic(false)
    private let handlesSecret = Atomic(false)
    private let waitEndsWithInput = Atomic(false)
    private let waitHereEndsWithInput = Atomic(false)
    /// The number of runs of the method body, and the latest of these runs that deferred its response.
    private let runs = Atomic(0)
    private let leftForLater = Atomic(0)
    private let onCancel = Mutex<ClosureBox<(@Sendable () -> Void)?>>(ClosureBox(nil))
    private let rest = Mutex<ClosureBox<Method.Body?>>(ClosureBox(nil))
    /// The number of entries into the handler. Only debug builds count.
    private let entries = Atomic(0)

    init(_ envelope: Envelope, _ method: Method, lane: Lane, arrival: Arrival, outlet: any AnswerOutlet) {
        self.envelope = envelope
        calledMethod = method
        currentLane = Atomic(lane.rawValue)
        self.arrival = arrival
        self.outlet = outlet
    }

    // MARK: Interface for methods

    /// The body of the method.
    var body: Method.Body { calledMethod.run }

    /// The name of the method.
    public var method: String { envelope.method }

    /// The caller's trace ID for this request, at most 128 characters, for logs and audit records.
    public var trace: String? { envelope.trace?.string }

    /// Whether the call is a notification, which gets no response.
    public var isNotification: Bool { envelope.id == nil }

    /// The lane on which the call is running. On `.compute`, the method must not wait for long; it calls `proceed` instead.
    public var lane: Lane { Lane(rawValue: currentLane.load(ordering: .relaxed))! }

    /// The values that this run shares with other calls on its thread. Only the first run of a call is in a sequence of pipelined calls,
    /// and only if the call has not moved.
    public var shared: (any SharedByCalls)? { lane == .compute && runs.load(ordering: .relaxed) <= 1 ? arrival.shared : nil }

    /// Ends this run of the call and discards its output. `rest`, the rest of the method, runs on `lane` and writes the result.
    public func proceed(on lane: Lane, _ rest: @escaping Method.Body) {
        currentLane.store(lane.rawValue, ordering: .relaxed)
        self.rest.withLock { $0.closure = rest }
        keepSecret()
        proceeds.store(true, ordering: .relaxed)
    }

    /// Runs `body`, which waits for others. The lane of the call starts another thread in the meantime if there is work for it.
    public func blocking<R>(_ body: () throws -> R) rethrows -> R { try outlet.blocking(self, body) }

    /// Records that the handler of the method starts. In a debug build, a second start for the same call stops the process.
    public func enterHandler() {
        assert(entries.wrappingAdd(1, ordering: .relaxed).oldValue == 0, "the handler of \(method) ran twice for one call")
    }

    /// Whether the caller canceled this call. A method that stops for this reason throws `Cancelled`. Always `false` after
    /// `commit`.
    public var isCancelled: Bool { cancelRequested.load(ordering: .acquiring) && !committed.load(ordering: .acquiring) }

    /// Marks the call as committed: it can no longer be canceled and returns its result.
    public func commit() { committed.store(true, ordering: .releasing) }

    /// Reports progress as `$/progress {token, value}` if the request has a `progressToken`. Sends nothing otherwise, or if the caller
    /// reads too slowly.
    public func progress(_ value: JSONValue) {
        guard currentState != .answered else { return }
        var writer = JSONWriter()
        outlet.dialect.progress(value, of: envelope, to: &writer)
        if !writer.bytes.isEmpty { outlet.sendIfRoom(&writer) }
    }

    /// Sends a notification immediately, before the response to this call. Unlike progress, it is never dropped, so send few of them.
    ///
    /// - Parameter params: A closure that writes one JSON object.
    public func notify(_ method: String, params: (inout JSONWriter) -> Void) {
        // Other dialects define their own notifications.
        guard outlet.dialect == .plain else { return }
        var writer = JSONWriter()
        writer.notification(method, params: params)
        outlet.send(&writer)
    }

    /// Cancels the requests with this ID.
    public func cancelRequests(_ id: JSONNode) { outlet.cancelRequests(id) }

    /// Whether `answerLater` is allowed. It is not allowed in sequential mode or if calls run on the caller's thread.
    public var mayAnswerLater: Bool { outlet.letsCallsWait }

    /// Ends this run of the method without a response and discards its output. The returned object provides the response later; until then
    /// the call blocks no thread.
    ///
    /// - Parameters:
    ///   - endsWithInput: Whether the end of the input ends the wait with `ShuttingDown`, so that a wait for users does not outlive the
    ///     input.
    ///   - onCancel: Runs if the call is canceled, or ended with the input, while it waits. The response has already been sent, so it must
    ///     only clean up.
    /// - Throws: `TooManyRequests` if too many calls are waiting, or if `mayAnswerLater` is `false`.
    public func answerLater(endsWithInput: Bool = false, onCancel: @escaping @Sendable () -> Void = {}) throws -> DeferredResponse {
        try outlet.admitWaiting(self)
        keepSecret()
        waitEndsWithInput.store(endsWithInput, ordering: .relaxed)
        self.onCancel.withLock { $0.closure = onCancel }
        leftForLater.store(runs.load(ordering: .relaxed), ordering: .releasing)
        move(from: .running, to: .suspended)
        if cancelRequested.load(ordering: .acquiring) { cancel() }
        return DeferredResponse(of: self, through: outlet)
    }

    /// Runs `wait`, which waits on this thread because the call cannot defer its response, and which ends if the call is canceled.
    ///
    /// - Parameter endsWithInput: Whether the end of the input ends the wait with `ShuttingDown`.
    public func waitHere(endsWithInput: Bool, _ wait: () throws -> Void) rethrows {
        waitHereEndsWithInput.store(endsWithInput, ordering: .releasing)
        defer { waitHereEndsWithInput.store(false, ordering: .releasing) }
        try wait()
    }

    /// Records whether this run has handled a secret, because another thread can run the rest of the method with the same secret.
    private func keepSecret() {
        if ProcessMemory.hasSecret { handlesSecret.store(true, ordering: .relaxed) }
    }

    // MARK: Lifecycle of a call

    var currentState: State { State(rawValue: state.load(ordering: .acquiring))! }

    /// Returns the rest of the method if the run ended with `proceed`, and queues the call for it.
    func takeRest() -> Method.Body? {
        guard proceeds.load(ordering: .relaxed) else { return nil }
        proceeds.store(false, ordering: .relaxed)
        guard let rest = rest.withLock({ $0.closure.take() }) else { return nil }
        move(from: .running, to: .queued)
        return rest
    }

    /// Sets the lane of a call that is about to be resumed.
    func resumes(on lane: Lane) { currentLane.store(lane.rawValue, ordering: .relaxed) }

    /// Begins or resumes a run. Returns the number of this run, or `nil` if the call already has a response.
    func begin() -> Int? {
        if !move(from: .queued, to: .running) {
            guard move(from: .suspended, to: .running) else { return nil }
            _ = takeOnCancel()
        }
        if handlesSecret.load(ordering: .relaxed) { ProcessMemory.noteSecret() }
        return runs.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Returns whether this run deferred its response. Another run may already have begun on another thread.
    func isLeftForLater(by run: Int) -> Bool { leftForLater.load(ordering: .acquiring) >= run }

    /// Claims the right to respond. Returns `true` only for the first claim.
    func claim() -> Bool { state.exchange(State.answered.rawValue, ordering: .acquiringAndReleasing) != State.answered.rawValue }

    /// Records that the caller canceled the call. If the call is not running, the error response is sent immediately.
    func cancel() {
        cancelRequested.store(true, ordering: .releasing)
        guard move(from: .queued, to: .answered) || move(from: .suspended, to: .answered) else { return }
        outlet.answer(self, RequestCancelled())
        takeOnCancel()?()
    }

    /// Claims the right to respond to a call whose wait ends with the input, and ends a wait on a thread. Returns `true` only once.
    func claimWaiting() -> Bool {
        if waitEndsWithInput.load(ordering: .relaxed), move(from: .suspended, to: .answered) { return true }
        guard waitHereEndsWithInput.load(ordering: .acquiring), move(from: .running, to: .answered) else { return false }
        cancelRequested.store(true, ordering: .releasing)
        return true
    }

    /// Removes and returns the cleanup closure of a waiting call, so that it does not run again.
    func takeOnCancel() -> (@Sendable () -> Void)? {
        onCancel.withLock { cleanUp in
            defer { cleanUp.closure = nil }
            return cleanUp
        }.closure
    }

    @discardableResult
    private func move(from old: State, to new: State) -> Bool {
        state.compareExchange(expected: old.rawValue, desired: new.rawValue, ordering: .acquiringAndReleasing).exchanged
    }
}

/// The values that the calls of one sequence share, such as a view of the store. Only the thread that runs the sequence uses it.
public protocol SharedByCalls: AnyObject, Sendable {}

/// The line in which a message arrived.
struct Arrival: Sendable {
    let route: AnswerRoute
    /// The size of the line in bytes.
    let bytesIn: Int
    /// The values that the calls of the same sequence of lines share.
    var shared: (any SharedByCalls)?
}

/// The destination of the response to a call.
enum AnswerRoute: Sendable {
    /// A separate line, which counts as `load` until it is sent.
    case line(Load)
    case batch(Batch)
    /// The caller of `Responder`, which waits for the response.
    case caller(Batch)
}

/// The interface through which calls send responses and messages.
protocol AnswerOutlet: AnyObject, Sendable {
    /// Responds with an error to a call that has been claimed.
    func answer(_ call: Call, _ error: any ResponseError)
    /// Sends a complete message.
    func send(_ message: inout JSONWriter)
    /// Sends a complete message, unless too much data is unsent.
    func sendIfRoom(_ message: inout JSONWriter)
    /// Whether calls may defer their responses.
    var letsCallsWait: Bool { get }
    /// The protocol dialect.
    var dialect: Dialect { get }
    /// Cancels the requests with this ID.
    func cancelRequests(_ id: JSONNode)
    /// Records that a call defers its response.
    func admitWaiting(_ call: Call) throws
    /// Runs `body`, which waits for others, on the thread of `call`.
    func blocking<R>(_ call: Call, _ body: () throws -> R) rethrows -> R
    /// Runs `body` on `lane` and responds to `call` with its output.
    func resume(_ call: Call, on lane: Lane, _ body: @escaping Method.Body)
}
