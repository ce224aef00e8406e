/// Is told of every message, in both directions. Called on the threads that serve: whatever takes time is done elsewhere.
public protocol MessageTap: Sendable {
    /// A message that was read, without its frame, before anything is done about it.
    func received(_ message: UnsafeRawBufferPointer)
    /// A message that goes out, without its frame.
    func sent(_ message: UnsafeRawBufferPointer)
    /// Nothing comes any more. Waits until what was told is kept, for five seconds at most.
    func finish()
}
