import JSON
import Platform
import Storage

/// The progress of a handler: its result, or a wait after which the rest of it runs. The rest continues with what the handler has
/// read and decided; the handler does not start again.
public enum Phase<Value: Sendable>: Sendable {
    /// The rest of a handler. Its argument is the context of the same call on the thread on which the rest runs.
    public typealias Rest = @Sendable (_ call: any CallContext) throws -> Phase<Value>

    case done(Value)
    case next(Wait, Rest)

    /// Continues with `body` when the value is available.
    public func then<Next>(
        _ call: any CallContext, _ body: @escaping @Sendable (Value, any CallContext) throws -> Phase<Next>
    ) throws -> Phase<Next> {
        switch self {
        case .done(let value): return try body(value, call)
        case .next(let wait, let rest): return .next(wait) { call in try rest(call).then(call, body) }
        }
    }

    /// Returns the value. Waits on this thread if necessary.
    ///
    /// - Throws: The errors of the handler; `Cancelled` if the call is canceled while it waits.
    public func value(for call: any CallContext) throws -> Value {
        var phase = self
        while true {
            switch phase {
            case .done(let value): return value
            case .next(let wait, let rest):
                if case .event(let event) = wait { try event.pass(call) }
                phase = try rest(PatientCall(call, wait))
            }
        }
    }
}

/// The event for which the rest of a handler waits.
public enum Wait: Sendable {
    /// A thread that may wait for the store.
    case store
    /// A thread that may wait for the store, to write what the handler has decided.
    case write
    /// A thread that may wait for other machines.
    case network
    /// An event. Until then the call blocks no thread.
    case event(AwaitedEvent)
}

/// An event for which calls wait, such as an action of a user or the end of a request that another call has sent.
public struct AwaitedEvent: Sendable {
    /// Runs its argument once, when the wait ends. If the wait has already ended, runs it immediately.
    public let whenOver: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Runs if the response is no longer needed.
    public let giveUp: @Sendable () -> Void
    /// Whether the wait ends without user action within seconds. The server then waits for it even after the end of the input.
    public let isBrief: Bool

    public init(
        isBrief: Bool = false, giveUp: @escaping @Sendable () -> Void = {},
        whenOver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.isBrief = isBrief
        self.giveUp = giveUp
        self.whenOver = whenOver
    }

    /// Waits on this thread. Its lane starts another thread in the meantime if there is work for it.
    ///
    /// - Throws: `Cancelled` if the call is canceled.
    public func pass(_ call: any CallContext) throws {
        let isOver = ConditionLock(false)
        whenOver {
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        try call.blocking {
            while isOver.wait(deadline: Monotonic.nanoseconds() + 250_000_000, until: { $0 ? () : nil }) == nil {
                if call.isCancelled {
                    giveUp()
                    throw Cancelled()
                }
            }
        }
        // A caller that waits again and again in short pauses must notice the cancellation, too.
        if call.isCancelled { throw Cancelled() }
    }
}

/// The rest of a bound method, which writes the result.
public struct Suspension: Sendable {
    public let wait: Wait
    public let rest: @Sendable (_ call: any CallContext, _ writer: inout JSONWriter) throws -> Suspension?
}

extension Phase where Value: ContractResult {
    /// Writes the result, or returns the rest of the method.
    func write(to writer: inout JSONWriter) -> Suspension? {
        switch self {
        case .done(let result):
            result.write(to: &writer)
            return nil
        case .next(let wait, let rest): return Suspension(wait: wait) { call, writer in try rest(call).write(to: &writer) }
        }
    }
}

/// A call whose thread may wait.
private struct PatientCall: CallContext {
    private let call: any CallContext
    let storeAccess: StoreAccess

    init(_ call: any CallContext, _ wait: Wait) {
        self.call = call
        storeAccess = if case .write = wait { StoreAccess(.allowedToWrite) } else { .patient }
    }

    var trace: String? { call.trace }
    var actor: String? { call.actor }
    var isCancelled: Bool { call.isCancelled }
    var isPublicCaller: Bool { call.isPublicCaller }
    func progress(_ value: JSONValue) { call.progress(value) }
    func notify<N: ContractNotification>(_ notification: N.Type, _ params: N.Params) { call.notify(notification, params) }
    func blocking<R>(_ body: () throws -> R) rethrows -> R { try call.blocking(body) }
}
