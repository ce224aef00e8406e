import Storage

/// A kind of expired row and its removal.
public struct ExpiryJob: Sendable {
    public typealias Removal = @Sendable (_ tx: Transaction, _ now: Int64, _ limit: Int) throws -> Int

    /// The name of the rows in the log.
    package let name: String
    /// Returns whether there are rows to remove. It only reads, so that a sweep without work takes no lock.
    package let hasWork: @Sendable (_ tx: Transaction, _ now: Int64) throws -> Bool
    /// Removes up to `limit` rows, in a transaction in which no other process sweeps, and returns their number.
    package let remove: Removal

    public init(
        name: String, hasWork: @escaping @Sendable (_ tx: Transaction, _ now: Int64) throws -> Bool, remove: @escaping Removal
    ) {
        self.name = name
        self.hasWork = hasWork
        self.remove = remove
    }
}
