/// A wrapper for storing a closure, or an optional one, in a lock.
///
/// A bare function type is not suitable: each time generic code receives a closure `inout`, Swift wraps it in a conversion and stores the
/// result. A closure in a lock would grow with every access until a call overflows the stack.
public struct ClosureBox<Closure: Sendable>: Sendable {
    public var closure: Closure

    public init(_ closure: Closure) { self.closure = closure }
}
