/// A connection to a database. It is not `Sendable`: one thread at a time uses it.
protocol OwnedByOneThread: AnyObject {}

extension SQLiteConnection: OwnedByOneThread {}
extension PostgresConnection: OwnedByOneThread {}

/// Passes a connection between threads. Safe because the pools give a connection to one thread, and take it back before they give it to
/// another one. (The compiler cannot check this with `sending`: a pool keeps its connections in a lock, and a view keeps one in a class.)
struct UnsafeTransfer<Value: OwnedByOneThread>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
