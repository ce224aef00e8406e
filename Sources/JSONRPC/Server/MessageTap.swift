/// Observes every message in both directions. Its methods run on the serving threads; slow work must be done elsewhere.
public protocol MessageTap: Sendable {
    /// Called with a message that was read, without its frame, before it is processed.
    func received(_ message: UnsafeRawBufferPointer)
    /// Called with an outgoing message, without its frame.
    func sent(_ message: UnsafeRawBufferPointer)
    /// Called after the last message. Waits at most 5 seconds until the observed messages are stored.
    func finish()
}
