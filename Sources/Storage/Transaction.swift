/// One transaction: its reads are consistent and its writes are atomic. Valid only inside the body that receives it.
///
/// ```swift
/// let name = try database.read { tx in
///     try tx.queryOne("SELECT name FROM pool WHERE id = $1", poolId) { $0.string(0) }
/// }
/// ```
public final class Transaction {
    private var session: (any Session)?

    /// Whether the caller that began the transaction must do additional work after the commit. The caller defines that work.
    public var needsFollowUp = false

    /// Facts about the writes of this transaction that a later step of it needs. The caller defines them.
    private var remarks: [String] = []

    /// Adds a remark, unless it is already known.
    public func remark(_ text: String) { if !remarks.contains(text) { remarks.append(text) } }

    /// Returns the remarks and removes them.
    public func takeRemarks() -> [String] {
        defer { remarks = [] }
        return remarks
    }

    init(_ session: any Session) { self.session = session }

    /// Runs a statement. The generic functions below are inlined into the client module.
    @usableFromInline
    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int {
        try current().run(sql, parameters, row: row)
    }

    /// Runs a statement and maps each row of its result.
    ///
    /// - Throws: `StoreError`; any error that `row` throws.
    @inlinable
    public func query<R>(_ sql: SQL, _ parameters: any SQLValue..., row: (Row) throws -> R) throws -> [R] {
        var rows: [R] = []
        _ = try run(sql, parameters) {
            rows.append(try row($0))
            return .more
        }
        return rows
    }

    /// Runs a statement and maps the first row of its result, if there is one.
    ///
    /// - Throws: `StoreError`; any error that `row` throws.
    @inlinable
    public func queryOne<R>(_ sql: SQL, _ parameters: any SQLValue..., row: (Row) throws -> R) throws -> R? {
        var first: R?
        _ = try run(sql, parameters) {
            if first == nil { first = try row($0) }
            return .enough
        }
        return first
    }

    /// Returns the text in the first column of the first row, or `nil` if the result has no rows. Use it for small results that are
    /// read frequently: if the store can prove that no data has changed, it returns the previous result.
    ///
    /// - Throws: `StoreError`.
    public func text(_ sql: SQL, _ parameters: String...) throws -> String? { try current().text(sql, parameters) }

    /// Runs a statement and returns the number of rows that it inserted, updated or deleted.
    ///
    /// - Throws: `StoreError`.
    @discardableResult
    public func execute(_ sql: SQL, _ parameters: any SQLValue...) throws -> Int { try current().run(sql, parameters) { _ in .more } }

    /// Locks the IDs against `lock` in other transactions until the end of this transaction. An ID does not have to exist: the name of a
    /// row that is about to be inserted can be locked. Lock before reading, and lock all IDs in one call. Does nothing in SQLite, which has
    /// one writer.
    ///
    /// - Throws: `StoreError`.
    public func lock(_ ids: [String]) throws { try current().lock(ids) }

    /// Locks the rows of a query against changes until the end of this transaction. Several transactions can hold the lock at a time. Does
    /// nothing in SQLite, which has one writer.
    ///
    /// - Parameter query: A query for PostgreSQL that ends with `FOR SHARE`.
    /// - Throws: `StoreError`.
    public func keepUnchanged(_ query: SQL) throws { try current().keepUnchanged(query) }

    /// The name of the writing connection, a UUID; empty in a read transaction.
    public var connectionId: String { session?.connectionId ?? "" }

    /// The version of the data that processes keep in memory: keys, pools, roles, revocations. Inexpensive if the epoch has not changed.
    ///
    /// If this transaction has advanced the epoch without committing yet, the result is a negative number that is never repeated: data seen
    /// in this state can still be rolled back and must not be cached.
    ///
    /// - Throws: `StoreError`.
    public var epoch: Int64 { get throws { try current().epoch() } }

    /// Makes every process that uses this store reload the data that it keeps in memory. Call it before the change itself.
    ///
    /// - Throws: `StoreError`.
    public func advanceEpoch() throws { try current().advanceEpoch() }

    /// Returns the number of rows of each table. Reads all tables completely.
    ///
    /// - Throws: `StoreError`.
    public func rowCounts() throws -> [String: Int64] { try current().rowCounts() }

    /// Deletes all rows of the tables, and all rows that refer to them.
    ///
    /// - Throws: `StoreError`.
    public func empty(_ tables: [String]) throws { try current().empty(tables) }

    /// Returns the columns of a table. Empty if the table does not exist.
    ///
    /// - Throws: `StoreError`.
    public func columns(of table: String) throws -> [TableColumn] { try current().columns(of: table) }

    /// Suspends the time limits for statements and pauses until the end of this transaction. For transactions that move whole tables.
    ///
    /// - Throws: `StoreError`.
    public func allowLongStatements() throws { try current().allowLongStatements() }

    /// Calls `take` for every row of a table, with the values of the given columns. Needs memory for some rows at a time only.
    ///
    /// - Throws: `StoreError`; any error that `take` throws.
    public func copyRows(of table: String, _ columns: [TableColumn], _ take: ([SQLParameter]) throws -> Void) throws {
        try current().copyRows(of: table, columns, take)
    }

    /// Inserts rows into a table, each with one value for each of the given columns.
    ///
    /// - Throws: `StoreError`.
    public func insert(into table: String, _ columns: [TableColumn], _ rows: [[SQLParameter]]) throws {
        try current().insert(into: table, columns, rows)
    }

    /// Locks the tables against writes of other transactions until the end of this transaction. Reads are not blocked.
    ///
    /// - Throws: `StoreError`.
    public func keepOthersOut(of tables: [String]) throws { try current().keepOthersOut(of: tables) }

    /// Disconnects the transaction from its connection, so that a reference that outlives the body is unusable.
    func end() { session = nil }

    private func current() throws(StoreError) -> any Session {
        guard let session else { throw .failed(reason: "a transaction was used after its end") }
        return session
    }
}

/// The operations that a driver provides to a transaction.
protocol Session: AnyObject {
    var connectionId: String { get }

    /// Runs a statement. `row` returns whether it needs more rows.
    ///
    /// - Returns: The number of rows that the statement changed.
    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int
    func text(_ sql: SQL, _ parameters: [String]) throws -> String?
    func lock(_ ids: [String]) throws
    func keepUnchanged(_ query: SQL) throws
    func epoch() throws -> Int64
    func advanceEpoch() throws
    func rowCounts() throws -> [String: Int64]
    func empty(_ tables: [String]) throws
    func columns(of table: String) throws -> [TableColumn]
    func copyRows(of table: String, _ columns: [TableColumn], _ take: ([SQLParameter]) throws -> Void) throws
    func insert(into table: String, _ columns: [TableColumn], _ rows: [[SQLParameter]]) throws
    func allowLongStatements() throws
    func keepOthersOut(of tables: [String]) throws
}

extension Session {
    /// Returns the first column of the first row, without a cache.
    func freshText(_ sql: SQL, _ parameters: [String]) throws -> String? {
        var answer: String?
        _ = try run(sql, parameters) {
            answer = $0.string(0)
            return .enough
        }
        return answer
    }

    func text(_ sql: SQL, _ parameters: [String]) throws -> String? { try freshText(sql, parameters) }
}

/// Whether the consumer of the rows needs more of them.
@usableFromInline
enum RowDemand {
    case more
    case enough
}
