import JSON
import Platform
import Synchronization

/// Serves methods to a program in the same process: messages are handed over as bytes, in both directions, and no descriptor is involved.
///
/// What only computes runs at once on the thread that hands a message over; what may wait runs on threads of the server, which end with it.
public final class LocalServer: Sendable {
    private let dispatcher: Dispatcher
    private let flow: FlowControl
    private let outbox: Outbox
    private let lanes: Lanes
    private let numbers = WorkerNumbers()
    private let end: ServerEnd
    /// How many threads are handing something over.
    private let inside = Atomic(0)
    private let isClosing = Atomic(false)

    /// - Parameters:
    ///   - observer: is told of every call.
    ///   - receive: gets answers and notifications, one or more lines with their ends at once, and never two times at the same time. Must not
    ///     wait.
    public init(
        _ methods: any MethodLookup, options: ServerOptions = ServerOptions(), observer: any CallObserver = NoObserver(),
        receive: @escaping @Sendable (_ lines: UnsafeRawBufferPointer) -> Void
    ) {
        let end = ServerEnd { _ in }
        // Whoever calls from within the process waits for answers as it likes, and has their memory anyway.
        let flow = FlowControl(.init(unansweredRequests: .max, unansweredBytes: .max, unsentBytes: .max))
        self.end = end
        self.flow = flow
        outbox = Outbox(Output(receive), flow: flow, onBroken: { _ in }, onEmpty: { end.stir() })
        lanes = Lanes(sequential: false, numbers: numbers)
        dispatcher = Dispatcher(
            performer: Performer(methods: methods, observer: observer, maximumAnswer: options.maximumAnswer),
            flow: flow, outbox: outbox, lanes: lanes, framing: .lines, tap: options.tap, isSequential: false,
            mostWaiting: options.maximumWaiting, together: { $0() }, onIdle: { end.stir() })
    }

    /// How many requests are unanswered now.
    public var inFlight: Int { flow.openRequests }

    /// Takes a message, without its end. Returns when it is answered or on its way; one that comes while `close` waits is answered
    /// `shuttingDown`, and one that comes after it is not answered.
    public func take(_ message: UnsafeRawBufferPointer) {
        inside.add(1, ordering: .sequentiallyConsistent)
        defer {
            inside.subtract(1, ordering: .sequentiallyConsistent)
            end.stir()
        }
        let load = Load(line: message)
        guard !isClosing.load(ordering: .sequentiallyConsistent) else {
            flow.admit(load)
            return dispatcher.refuse(message, unread: 0)
        }
        let number = numbers.take()
        defer { numbers.giveBack(number) }
        var bench = Workbench(number: number)
        dispatcher.handleAlone(message, load, on: &bench)
    }

    /// Waits until everything is answered, and ends the server's threads. What is not answered at the deadline is answered `shuttingDown`.
    ///
    /// - Parameter deadline: a moment of `Monotonic.nanoseconds()`.
    /// - Returns: whether nothing runs any more. If not, `waitForThreads` waits for it.
    public func close(deadline: UInt64) -> Bool {
        isClosing.store(true, ordering: .sequentiallyConsistent)
        let isDone = {
            self.inside.load(ordering: .sequentiallyConsistent) == 0 && self.flow.unansweredRequests == 0 && self.outbox.isEmpty
        }
        if !end.wait(deadline: deadline, until: isDone) {
            dispatcher.cutOff()
            _ = end.wait(deadline: Monotonic.nanoseconds() + Self.lastNanoseconds) { self.outbox.isEmpty }
        }
        flow.close()
        outbox.close()
        lanes.close()
        return lanes.wait(deadline: max(deadline, Monotonic.nanoseconds() + 100_000_000))
    }

    /// How long the last answers may take to be received.
    private static let lastNanoseconds: UInt64 = 2_000_000_000

    /// Waits for what was cut off and runs all the same, such as a request to another machine.
    public func waitForThreads() { while !lanes.wait(deadline: Monotonic.nanoseconds() + 3_600_000_000_000) {} }
}
