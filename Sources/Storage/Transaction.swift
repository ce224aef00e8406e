/// One transaction: everything in it is seen and kept together. Valid only inside the body it is handed to.
///
/// ```swift
/// let name = try database.read { tx in
///     try tx.queryOne("SELECT name FROM pool WHERE id = $1", poolId) { $0.string(0) }
/// }
/// ```
public final class Transaction {
    private var session: (any Session)?

    /// Whether the caller that began the transaction has to do something after the commit. It says itself what that is.
    public var needsFollowUp = false

    init(_ session: any Session) { self.session = session }

    /// Runs a statement; the generic functions below are compiled where they are used.
    @usableFromInline
    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int {
        try current().run(sql, parameters, row: row)
    }

    /// Runs a statement and maps each row of its answer.
    ///
    /// - Throws: `StoreError`, and what `row` throws.
    @inlinable
    public func query<R>(_ sql: SQL, _ parameters: any SQLValue..., row: (Row) throws -> R) throws -> [R] {
        var rows: [R] = []
        _ = try run(sql, parameters) {
            rows.append(try row($0))
            return .more
        }
        return rows
    }

    /// Runs a statement and maps the first row of its answer, if there is one.
    ///
    /// - Throws: `StoreError`, and what `row` throws.
    @inlinable
    public func queryOne<R>(_ sql: SQL, _ parameters: any SQLValue..., row: (Row) throws -> R) throws -> R? {
        var first: R?
        _ = try run(sql, parameters) {
            if first == nil { first = try row($0) }
            return .enough
        }
        return first
    }

    /// The first column of the first row, a text; nil without a row. For small answers that are asked for again and again: where the
    /// store can tell for sure that nothing at all has changed since, the answer is the one of last time.
    ///
    /// - Throws: `StoreError`.
    public func text(_ sql: SQL, _ parameters: String...) throws -> String? { try current().text(sql, parameters) }

    /// Runs a statement and answers how many rows it inserted, updated or deleted.
    ///
    /// - Throws: `StoreError`.
    @discardableResult
    public func execute(_ sql: SQL, _ parameters: any SQLValue...) throws -> Int { try current().run(sql, parameters) { _ in .more } }

    /// Keeps others who lock one of these ids from going on until the end of the transaction. What was locked need not exist: the name of
    /// a row that is yet to be made will do. Lock before reading, all at once. SQLite has one writer and needs none.
    ///
    /// - Throws: `StoreError`.
    public func lock(_ ids: [String]) throws { try current().lock(ids) }

    /// The name of the writing connection, a UUID; empty in a read.
    public var connectionId: String { session?.connectionId ?? "" }

    /// Counts the changes of what processes keep in memory: keys, pools, roles, revocations. Cheap when nothing changed.
    ///
    /// Where the epoch was advanced but not yet committed, the answer is negative and never comes again: what is seen there may
    /// still be undone and must not be kept.
    ///
    /// - Throws: `StoreError`.
    public var epoch: Int64 { get throws { try current().epoch() } }

    /// Tells every process on this store to read anew what it keeps in memory. Call it before the change itself.
    ///
    /// - Throws: `StoreError`.
    public func advanceEpoch() throws { try current().advanceEpoch() }

    /// How many rows each table has. Reads all of them.
    ///
    /// - Throws: `StoreError`.
    public func rowCounts() throws -> [String: Int64] { try current().rowCounts() }

    /// Takes all rows out of these tables, and with them what refers to them.
    ///
    /// - Throws: `StoreError`.
    public func empty(_ tables: [String]) throws { try current().empty(tables) }

    /// The columns of a table, none if there is no such table.
    ///
    /// - Throws: `StoreError`.
    public func columns(of table: String) throws -> [TableColumn] { try current().columns(of: table) }

    /// Hands over every row of a table, with the values of these columns.
    ///
    /// - Throws: `StoreError`, and what `take` throws.
    public func copyRows(of table: String, _ columns: [TableColumn], _ take: ([SQLParameter]) throws -> Void) throws {
        try current().copyRows(of: table, columns, take)
    }

    /// Puts rows into a table, each with a value for each of these columns.
    ///
    /// - Throws: `StoreError`.
    public func insert(into table: String, _ columns: [TableColumn], _ rows: [[SQLParameter]]) throws {
        try current().insert(into: table, columns, rows)
    }

    /// Keeps others from writing to these tables until the end of the transaction. They read on.
    ///
    /// - Throws: `StoreError`.
    public func keepOthersOut(of tables: [String]) throws { try current().keepOthersOut(of: tables) }

    /// Cuts the connection off: whoever kept the transaction beyond its body can do no harm.
    func end() { session = nil }

    private func current() throws(StoreError) -> any Session {
        guard let session else { throw .failed(reason: "a transaction was used after its end") }
        return session
    }
}

/// What a driver offers to a transaction.
protocol Session: AnyObject {
    var connectionId: String { get }

    /// Runs a statement. `row` says whether it wants to see more rows.
    ///
    /// - Returns: how many rows the statement changed.
    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int
    func text(_ sql: SQL, _ parameters: [String]) throws -> String?
    func lock(_ ids: [String]) throws
    func epoch() throws -> Int64
    func advanceEpoch() throws
    func rowCounts() throws -> [String: Int64]
    func empty(_ tables: [String]) throws
    func columns(of table: String) throws -> [TableColumn]
    func copyRows(of table: String, _ columns: [TableColumn], _ take: ([SQLParameter]) throws -> Void) throws
    func insert(into table: String, _ columns: [TableColumn], _ rows: [[SQLParameter]]) throws
    func keepOthersOut(of tables: [String]) throws
}

extension Session {
    /// The first column of the first row, asked for anew.
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

/// Whether whoever reads rows wants the next one.
@usableFromInline
enum RowDemand {
    case more
    case enough
}
