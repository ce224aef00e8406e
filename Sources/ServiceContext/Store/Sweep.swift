import Storage

/// One kind of row that is of no use any more after some time, and how to remove it.
public struct Sweep: Sendable {
    public typealias Removal = @Sendable (_ tx: Transaction, _ now: Int64, _ limit: Int) throws -> Int

    /// What is removed, for the log.
    package let name: String
    /// Whether anything is to be removed; only reads, so that a sweep without work takes no lock.
    package let hasWork: @Sendable (_ tx: Transaction, _ now: Int64) throws -> Bool
    /// Removes up to `limit` rows, in a transaction in which no other process sweeps, and answers how many they were.
    package let remove: Removal

    public init(
        name: String, hasWork: @escaping @Sendable (_ tx: Transaction, _ now: Int64) throws -> Bool, remove: @escaping Removal
    ) {
        self.name = name
        self.hasWork = hasWork
        self.remove = remove
    }
}
