/// A closure, or an optional one, in a lock.
///
/// A bare function type does not do there: each time generic code is given a closure `inout`, Swift wraps it in a conversion and
/// stores that, so that a lock around a closure grows with every access until a call of it overflows the stack.
public struct Held<Closure: Sendable>: Sendable {
    public var closure: Closure

    public init(_ closure: Closure) { self.closure = closure }
}
