/// The settings of a server, with their defaults.
public struct ServerOptions: Sendable {
    /// The maximum length of an input line, in bytes.
    public var maximumLine = 1 << 20
    /// The maximum length of a response, in bytes.
    public var maximumAnswer = 16 << 20
    /// The maximum number of requests without a response. Above it, reading pauses.
    public var maximumUnanswered = 1024
    /// The maximum number of unsent response bytes. Above it, reading pauses.
    public var maximumUnsent = 16 << 20
    /// The maximum number of requests that wait for users.
    public var maximumWaiting = 512
    /// Whether requests run strictly one after the other, in their order.
    public var sequential = false
    /// The time that running calls have to complete on termination, in seconds.
    public var drainSeconds = 5
    /// The ID of the process whose end also ends the server.
    public var parent: Int32?
    public var framing = Framing.lines
    public var dialect = Dialect.plain
    /// Observes every message.
    public var tap: (any MessageTap)?
    /// Observes every call.
    public var observer: any CallObserver = NoObserver()
    /// Wraps a sequence of calls, so that they can share the data that they read.
    public var together: Together = { $0(nil) }
    /// Sends requests to the host, which responds over the same pipe.
    public var hostRequests: HostRequests?

    /// Runs `body`, a sequence of pipelined calls on one thread, with the values that the calls share. All of the calls were received
    /// before it starts, and no response is sent during it. In sequential mode, in which a call that waits stays on its thread, calls share
    /// nothing.
    public typealias Together = @Sendable (_ body: ((any SharedByCalls)?) -> Void) -> Void

    public init() {}
}
