/// How a server behaves; the defaults are those of the design.
public struct ServerOptions: Sendable {
    /// The longest line that is read, in bytes.
    public var maximumLine = 1 << 20
    /// The longest answer that is sent, in bytes.
    public var maximumAnswer = 16 << 20
    /// How many requests may be unanswered before reading stops.
    public var maximumUnanswered = 1024
    /// How many bytes of answers may be unsent before reading stops.
    public var maximumUnsent = 16 << 20
    /// How many requests may wait for people.
    public var maximumWaiting = 512
    /// Whether requests run strictly one after the other, in their order.
    public var sequential = false
    /// How long a termination waits for what is in flight.
    public var drainSeconds = 5
    /// The server ends when this process is gone.
    public var parent: Int32?
    public var framing = Framing.lines
    public var dialect = Dialect.plain
    /// Who is told of every message.
    public var tap: (any MessageTap)?

    public init() {}
}
