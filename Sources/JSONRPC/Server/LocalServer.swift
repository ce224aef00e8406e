import JSON
import Platform
import Synchronization

/// Serves methods to a program in the same process. Messages are passed as bytes in both directions, without descriptors.
///
/// Methods that only compute run immediately on the calling thread. Methods that may wait run on threads of the server, which exit when it
/// is closed.
public final class LocalServer: Sendable {
    private let dispatcher: Dispatcher
    private let flow: FlowControl
    private let outbox: Outbox
    private let lanes: Lanes
    private let numbers = WorkerNumbers()
    private let end: ServerEnd
    /// The number of threads that are passing a message to the server.
    private let inside = Atomic(0)
    private let isClosing = Atomic(false)
    private let hostRequests: HostRequests?

    /// - Parameter receive: Receives responses and notifications, one or more lines with their ends per call. Calls never overlap. Must not
    ///   block.
    public init(
        _ methods: any MethodLookup, options: ServerOptions = ServerOptions(),
        receive: @escaping @Sendable (_ lines: UnsafeRawBufferPointer) -> Void
    ) {
        let end = ServerEnd { _ in }
        // A caller within the process already shares its memory and decides how long it waits, so limits are not needed.
        let flow = FlowControl(.init(unansweredRequests: .max, unansweredBytes: .max, unsentBytes: .max))
        self.end = end
        self.flow = flow
        outbox = Outbox(Output(receive), flow: flow, onBroken: { _ in }, onEmpty: { end.stir() })
        lanes = Lanes(sequential: false, numbers: numbers)
        // Every message is complete when it arrives, and calls run in any order.
        hostRequests = options.hostRequests
        var local = options
        local.framing = .lines
        local.sequential = false
        let performer = MethodRunner(methods: methods, observer: options.observer, maximumAnswer: options.maximumAnswer)
        dispatcher = Dispatcher(
            .init(performer: performer, flow: flow, outbox: outbox, lanes: lanes, options: local), onIdle: { end.stir() })
        hostRequests?.connect(dispatcher.hostConnection)
    }

    /// The number of requests without a response.
    public var inFlight: Int { flow.openRequests }

    /// Accepts a message without its end. Returns after the response is sent or scheduled. A request that arrives while `close` is waiting
    /// gets `shuttingDown`; a request that arrives later gets no response.
    public func take(_ message: UnsafeRawBufferPointer) {
        inside.add(1, ordering: .sequentiallyConsistent)
        defer {
            inside.subtract(1, ordering: .sequentiallyConsistent)
            end.stir()
        }
        if let hostRequests, hostRequests.accept(message) { return }
        let load = Load(line: message)
        guard !isClosing.load(ordering: .sequentiallyConsistent) else {
            flow.admit(load)
            return dispatcher.refuse(message, unread: 0)
        }
        let number = numbers.take()
        defer { numbers.giveBack(number) }
        var bench = WorkerState(number: number)
        dispatcher.handleAlone(message, load, on: &bench)
    }

    /// Waits until all requests have a response, then ends the threads of the server. At the deadline, the remaining requests get
    /// `shuttingDown`.
    ///
    /// - Parameter deadline: A time on the clock of `Monotonic.nanoseconds()`.
    /// - Returns: Whether all calls have ended. If `false`, call `waitForThreads` to wait for them.
    public func close(deadline: UInt64) -> Bool {
        isClosing.store(true, ordering: .sequentiallyConsistent)
        hostRequests?.disconnect()
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

    /// The maximum time in which the last responses are received.
    private static let lastNanoseconds: UInt64 = 2_000_000_000

    /// Waits for calls that were cut off but are still running, such as a request to another machine.
    public func waitForThreads() { while !lanes.wait(deadline: Monotonic.nanoseconds() + 3_600_000_000_000) {} }
}
