import CSQLite
import Glibc
import Platform

/// A connection to a SQLite database, with its prepared statements. Used by one thread at a time.
final class SQLiteConnection: OwnedByOneThread {
    enum Role {
        case reader
        /// The connection that writes, and its name.
        case writer(id: String)
    }

    let handle: OpaquePointer
    let role: Role
    /// The last error that the database returned, or `nil`.
    private(set) var lastError: (any Error)?
    private let path: String
    private let waitMilliseconds: Int32
    /// By the addresses of their texts.
    private var statements = AddressTable<SQLiteStatement>()
    private var isClosed = false
    var epochSeen = SeenEpoch()
    var knownTexts = QueryCache()

    /// Evaluated once, before the first use of SQLite.
    private static let hasNoStatistics = sqlite3_config_without_memory_statistics() == SQLITE_OK

    /// - Parameters:
    ///   - path: The path of a file, or a URI of SQLite, for a database in memory or a file that cannot change.
    ///   - waitMilliseconds: The time limit for waiting for the lock of another process.
    /// - Throws: `StoreError.cannotOpen`.
    init(path: String, isURI: Bool, role: Role, waitMilliseconds: Int32) throws {
        _ = Self.hasNoStatistics
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | (isURI ? SQLITE_OPEN_URI : 0)
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw StoreError.cannotOpen(path: path, reason: reason)
        }
        // If a file cannot be opened for writing, for example because the process has too many descriptors, SQLite opens it for reading, and
        // the connection would stay read-only after the reason has gone. The next request opens a file that is writable again.
        if case .writer = role, !isURI, sqlite3_db_readonly(handle, "main") == 1, access(path, W_OK) == 0 {
            sqlite3_close_v2(handle)
            throw StoreError.cannotOpen(path: path, reason: "the file could not be opened for writing")
        }
        self.handle = handle
        self.path = path
        self.role = role
        self.waitMilliseconds = waitMilliseconds
        sqlite3_extended_result_codes(handle, 1)
        // Small allocations of the connection come from its lookaside memory instead of the allocator.
        _ = sqlite3_lookaside(handle, 1200, 40)
        sqlite3_busy_timeout(handle, waitMilliseconds)
        sqlite3_create_collation_v2(
            handle, "C", SQLITE_UTF8, nil, { _, aCount, a, bCount, b in compareBytes(a, aCount, b, bCount: bCount) }, nil)
    }

    deinit { close() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        statements = AddressTable()
        sqlite3_close_v2(handle)
    }

    var isReader: Bool { if case .reader = role { true } else { false } }

    /// Whether no transaction is open. SQLite ends a transaction itself in some cases, such as a full disk.
    var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// The total number of rows inserted, updated or deleted, including changes that were rolled back.
    var changes: Int32 { sqlite3_total_changes(handle) }

    /// Rolls back the open transaction, if there is one.
    func abandon() {
        if !isOutsideTransaction { try? run("ROLLBACK") }
        lastError = nil
        epochSeen.settle()
    }

    /// Clears the state of a read transaction that has ended.
    func settleRead() { epochSeen.settle() }

    /// Copies the write-ahead log into the database as far as readers allow, without waiting for them.
    func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }

    // MARK: Statements

    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int {
        let statement = try prepared(sql)
        try statement.begin(parameters)
        defer { statement.end() }
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW:
                // A statement that changes rows always runs to completion, whatever `row` returns.
                if try take(row, statement) == .enough, statement.isReadOnly { return 0 }
            case SQLITE_DONE: return statement.isReadOnly ? 0 : Int(sqlite3_changes(handle))
            case let code: throw failure(code)
            }
        }
    }

    /// Passes the current row of a statement to `row`.
    ///
    /// - Throws: `StoreError.failed` if SQLite had no memory for a value, whatever `row` makes of the value; any error that `row` throws.
    private func take<R>(_ row: (Row) throws -> R, _ statement: SQLiteStatement) throws -> R {
        let result = Result { try row(Row(source: statement)) }
        if statement.lacksMemory { throw failure(SQLITE_NOMEM) }
        return try result.get()
    }

    /// Runs a statement without parameters and without result rows.
    func run(_ sql: SQL) throws { _ = try run(sql, []) { _ in .more } }

    /// Returns the first column of the first row, or `nil` if the result has no rows.
    func integer(_ sql: SQL) throws -> Int64? {
        var answer: Int64?
        _ = try run(sql, []) {
            answer = $0.int(0)
            return .enough
        }
        return answer
    }

    /// Returns the first column of the first row, or `nil` if the result has no rows.
    func text(_ sql: SQL) throws -> String? {
        var answer: String?
        _ = try run(sql, []) {
            answer = $0.string(0)
            return .enough
        }
        return answer
    }

    private func prepared(_ sql: SQL) throws -> SQLiteStatement {
        // A running statement cannot be restarted; a nested use of the same text gets a separate statement.
        let address = UInt(bitPattern: sql.text.utf8Start)
        if let known = statements[address], !known.isRunning { return known }
        var statement: OpaquePointer?
        let text = UnsafeRawPointer(sql.text.utf8Start).assumingMemoryBound(to: CChar.self)
        let code = sqlite3_prepare_v3(
            handle, text, Int32(sql.text.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        let fresh = try SQLiteStatement(statement)
        if isReader, !fresh.isReadOnly { throw StoreError.failed(reason: "a read must not write: \(sql.text)") }
        if statements[address] == nil { statements.add(fresh, at: address) }
        return fresh
    }

    /// Runs a statement once for each of `runs`, without caching it. The text contains a table name, so it cannot be a literal.
    func runOnce(_ text: String, _ runs: [[any SQLValue]], row: (Row) throws -> Void) throws {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(self.handle, text, -1, &handle, nil)
        guard code == SQLITE_OK, let handle else { throw failure(code) }
        let statement = try SQLiteStatement(handle)
        for values in runs {
            try statement.begin(values)
            defer { statement.end() }
            var code = sqlite3_step(handle)
            while code == SQLITE_ROW {
                try take(row, statement)
                code = sqlite3_step(handle)
            }
            guard code == SQLITE_DONE else { throw failure(code) }
        }
    }

    /// Runs statements that are needed once, without caching them.
    func execute(_ text: SQL) throws {
        let code = sqlite3_exec(handle, UnsafeRawPointer(text.text.utf8Start).assumingMemoryBound(to: CChar.self), nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: Int32) -> any Error {
        let error = SQLiteFailure.storeError(code, of: handle, path: path)
        lastError = error
        return error
    }
}

/// Compares by bytes, like collation "C" of PostgreSQL.
private func compareBytes(_ a: UnsafeRawPointer?, _ aCount: Int32, _ b: UnsafeRawPointer?, bCount: Int32) -> Int32 {
    let first = UnsafeRawBufferPointer(start: a, count: Int(aCount))
    let second = UnsafeRawBufferPointer(start: b, count: Int(bCount))
    for (x, y) in zip(first, second) where x != y { return x < y ? -1 : 1 }
    return aCount == bCount ? 0 : aCount < bCount ? -1 : 1
}
