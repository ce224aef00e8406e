/// Thrown by a handler that can only go on when a person has done something: it is called again, from the beginning, when the wait is
/// over, and no thread is held until then. Only where `CallContext.mayAnswerLater`; else it waits itself.
public struct AwaitsPeople: Error {
    /// Runs what it is given once, when the wait is over; at once if it is.
    public let whenOver: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Runs if nobody wants the answer any more.
    public let giveUp: @Sendable () -> Void
    /// Whether the wait ends by itself within seconds: then it is waited for even when no more requests can come.
    public let isBrief: Bool

    public init(
        isBrief: Bool = false, giveUp: @escaping @Sendable () -> Void = {},
        whenOver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.isBrief = isBrief
        self.giveUp = giveUp
        self.whenOver = whenOver
    }
}
