/// A connection to a database. It is not `Sendable`: one thread at a time uses it.
protocol OwnedByOneThread: AnyObject {}

/// Passes a connection between threads. Safe because the pools give a connection to one thread, and take it back before they give it to
/// another one.
///
/// The compiler checks the way into the pool (`sending`). It cannot check the way back: after a connection was passed to a body that is not
/// `@Sendable`, as every body of a transaction, it counts as used by the caller, and sending it back is an error.
struct UnsafeTransfer<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: sending Value) where Value: OwnedByOneThread { self.value = value }
}
