/// One transaction: everything in it is seen and kept together. Valid only inside the body it is handed to.
public final class Transaction {
    private let session: any Session

    init(_ session: any Session) { self.session = session }

    /// Runs a statement and maps each row of its answer.
    ///
    /// - Throws: `StoreError`, and what `row` throws.
    public func query<R>(_ sql: SQL, _ parameters: any SQLValue..., row: (Row) throws -> R) throws -> [R] {
        var rows: [R] = []
        _ = try session.run(sql, parameters) { rows.append(try row($0)) }
        return rows
    }

    /// Runs a statement and maps the first row of its answer, if there is one.
    public func queryOne<R>(_ sql: SQL, _ parameters: any SQLValue..., row: (Row) throws -> R) throws -> R? {
        var first: R?
        _ = try session.run(sql, parameters) { if first == nil { first = try row($0) } }
        return first
    }

    /// Runs a statement and answers how many rows it changed.
    @discardableResult
    public func execute(_ sql: SQL, _ parameters: any SQLValue...) throws -> Int { try session.run(sql, parameters) { _ in } }

    /// Keeps others from changing the rows of these ids until the end of the transaction. SQLite has one writer and needs none.
    public func lock(_ ids: [String]) throws { try session.lock(ids) }

    /// The name of the writing connection, a UUID; empty in a read.
    public var connectionId: String { session.connectionId }

    /// Counts the changes of what processes keep in memory: keys, pools, roles, revocations. Cheap when nothing changed.
    public var epoch: Int64 { get throws { try session.epoch() } }

    /// Tells every process on this store to read anew what it keeps in memory.
    public func advanceEpoch() throws { try session.advanceEpoch() }
}

/// What a driver offers to a transaction.
protocol Session: AnyObject {
    var connectionId: String { get }
    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> Void) throws -> Int
    func lock(_ ids: [String]) throws
    func epoch() throws -> Int64
    func advanceEpoch() throws
}
