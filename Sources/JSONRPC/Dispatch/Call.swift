import JSON
import Platform
import Synchronization

/// One call of a method, from when its envelope was read until it is answered.
///
/// A call is answered once: whoever claims it first, its method, its cancellation or the end of the process, answers.
public final class Call: Sendable {
    enum State: UInt8 { case queued, running, suspended, answered }

    /// The request as it came.
    let envelope: Envelope
    let calledMethod: Method
    let route: AnswerRoute
    /// Bytes of the line or batch that the call came in.
    let bytesIn: Int
    private let outlet: any AnswerOutlet
    private let state = Atomic<UInt8>(State.queued.rawValue)
    private let currentLane: Atomic<UInt8>
    private let cancelRequested = Atomic(false)
    private let committed = Atomic(false)
    private let toWrite = Atomic(false)
    private let waitEndsWithInput = Atomic(false)
    /// How often a body began to run, and the latest of these runs that left its answer for later.
    private let runs = Atomic(0)
    private let leftForLater = Atomic(0)
    private let onCancel = Mutex<Held<(@Sendable () -> Void)?>>(Held(nil))

    init(_ envelope: Envelope, _ method: Method, lane: Lane, route: AnswerRoute, bytesIn: Int, outlet: any AnswerOutlet) {
        self.envelope = envelope
        calledMethod = method
        currentLane = Atomic(lane.rawValue)
        self.route = route
        self.bytesIn = bytesIn
        self.outlet = outlet
    }

    // MARK: What a method may ask

    /// What the method does.
    var body: Method.Body { calledMethod.run }

    /// The name of the method.
    public var method: String { envelope.method }

    /// The caller's word for this request, at most 128 characters, for logs and records.
    public var trace: String? { envelope.trace?.string }

    /// Whether nobody will read an answer.
    public var isNotification: Bool { envelope.id == nil }

    /// Where the call runs now. On `.compute` it must not wait: it throws `MoveToLane` instead.
    public var lane: Lane { Lane(rawValue: currentLane.load(ordering: .relaxed))! }

    /// Whether the method has not run for this call before; see `MoveToLane`.
    public var isFirstRun: Bool { runs.load(ordering: .relaxed) <= 1 }

    /// Whether an earlier run of the method found something to write; see `MoveToLane`.
    public var isToWrite: Bool { toWrite.load(ordering: .relaxed) }

    /// Whether the caller wants this call to end. A method that gives up throws `CancellationError`. False for good once
    /// `commit` was called.
    public var isCancelled: Bool { cancelRequested.load(ordering: .acquiring) && !committed.load(ordering: .acquiring) }

    /// Says that the call has changed something: from now on it is finished and answered with its result.
    public func commit() { committed.store(true, ordering: .releasing) }

    /// Reports progress as `$/progress {token, value}` if the request has a `progressToken`; else, and when the caller is
    /// slow to read, nothing is sent.
    public func progress(_ value: JSONValue) {
        guard currentState != .answered else { return }
        var writer = JSONWriter()
        outlet.dialect.progress(value, of: envelope, to: &writer)
        if !writer.bytes.isEmpty { outlet.sendIfRoom(&writer) }
    }

    /// Sends a notification at once, before the answer to this call. Unlike progress it is never left out: send few.
    ///
    /// - Parameter params: writes one JSON object.
    public func notify(_ method: String, params: (inout JSONWriter) -> Void) {
        // Others know their own notifications only.
        guard outlet.dialect == .plain else { return }
        var writer = JSONWriter()
        writer.notification(method, params: params)
        outlet.send(&writer)
    }

    /// Cancels the requests that have this id.
    public func cancelRequests(_ id: JSONNode) { outlet.cancelRequests(id) }

    /// Whether `answerLater` may be called. Not where calls run strictly one after the other, or on their caller's own thread.
    public var mayAnswerLater: Bool { outlet.letsCallsWait }

    /// Ends this run of the method without an answer: the result is given later, through what is returned, and until then
    /// no thread is held. What the method has written is forgotten.
    ///
    /// - Parameters:
    ///   - endsWithInput: whether the end of the input ends the wait, with `ShuttingDown`: nobody should wait for people, for minutes,
    ///     after the host has closed its end.
    ///   - onCancel: runs when the call is cancelled, or ended with the input, while it waits. It is answered then, so only clean up.
    /// - Throws: `TooManyRequests` when too many calls wait already.
    public func answerLater(endsWithInput: Bool = false, onCancel: @escaping @Sendable () -> Void = {}) throws -> LaterAnswer {
        try outlet.admitWaiting(self)
        waitEndsWithInput.store(endsWithInput, ordering: .relaxed)
        self.onCancel.withLock { $0.closure = onCancel }
        leftForLater.store(runs.load(ordering: .relaxed), ordering: .releasing)
        move(from: .running, to: .suspended)
        if cancelRequested.load(ordering: .acquiring) { cancel() }
        return LaterAnswer(of: self, through: outlet)
    }

    // MARK: The life of a call

    var currentState: State { State(rawValue: state.load(ordering: .acquiring))! }

    /// Moves on; what the call was doing before is forgotten.
    func queue(_ next: MoveToLane) {
        currentLane.store(next.lane.rawValue, ordering: .relaxed)
        if next.isToWrite { toWrite.store(true, ordering: .relaxed) }
        move(from: .running, to: .queued)
    }

    /// Begins or goes on to run. Answers the number of this run, nil if the call is answered already.
    func begin() -> Int? {
        if !move(from: .queued, to: .running) {
            guard move(from: .suspended, to: .running) else { return nil }
            _ = takeOnCancel()
        }
        return runs.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Whether this run left its answer for later. By then another run may have begun elsewhere.
    func isLeftForLater(by run: Int) -> Bool { leftForLater.load(ordering: .acquiring) >= run }

    /// Takes the right to answer. True once, for whoever comes first.
    func claim() -> Bool { state.exchange(State.answered.rawValue, ordering: .acquiringAndReleasing) != State.answered.rawValue }

    /// Notes that the caller wants the call to end. A call that is not running is answered at once.
    func cancel() {
        cancelRequested.store(true, ordering: .releasing)
        guard move(from: .queued, to: .answered) || move(from: .suspended, to: .answered) else { return }
        outlet.answer(self, RequestCancelled())
        takeOnCancel()?()
    }

    /// Takes the right to answer a call that waits for as long as there is input. True once.
    func claimWaiting() -> Bool { waitEndsWithInput.load(ordering: .relaxed) && move(from: .suspended, to: .answered) }

    /// The clean-up of a call that waits, which thereby will not run again.
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

/// Where the answer to a call belongs.
enum AnswerRoute: Sendable {
    /// A line of its own, which counts as `load` until then.
    case line(Load)
    case batch(Batch)
    /// The caller of `Responder`, who waits for it.
    case caller(Batch)
}

/// What calls need of whoever sends the answers.
protocol AnswerOutlet: AnyObject, Sendable {
    /// Answers a call that was claimed with an error.
    func answer(_ call: Call, _ error: any ResponseError)
    /// Sends a complete message.
    func send(_ message: inout JSONWriter)
    /// Sends a complete message, unless too much is unsent already.
    func sendIfRoom(_ message: inout JSONWriter)
    /// Whether calls may give their answers later.
    var letsCallsWait: Bool { get }
    /// Which protocol's words are used.
    var dialect: Dialect { get }
    /// Cancels the requests that have this id.
    func cancelRequests(_ id: JSONNode)
    /// Notes that a call gives its answer later.
    func admitWaiting(_ call: Call) throws
    /// Runs `body` on `lane` and answers `call` with what it writes.
    func resume(_ call: Call, on lane: Lane, _ body: @escaping Method.Body)
}
