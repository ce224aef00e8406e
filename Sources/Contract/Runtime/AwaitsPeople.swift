/// Thrown by a handler that must wait for a user action. The handler runs again, from the beginning, when the wait ends; until then the
/// call blocks no thread. Allowed only if `CallContext.mayAnswerLater` is `true`; otherwise the handler must block.
public struct AwaitsPeople: Error {
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
}
