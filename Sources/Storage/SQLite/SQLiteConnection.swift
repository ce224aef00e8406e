import CSQLite

/// One connection to a SQLite database with its prepared statements. Used by one thread at a time.
final class SQLiteConnection {
    enum Role {
        case reader
        /// The connection that writes, and its name.
        case writer(id: String)
    }

    let handle: OpaquePointer
    let role: Role
    /// What the database itself said last, nil while all is well.
    private(set) var lastError: (any Error)?
    private let path: String
    private let waitMilliseconds: Int32
    private var patient = true
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]
    private var isClosed = false
    var epochSeen = SeenEpoch()
    var knownTexts = KnownTexts()

    /// Runs once, before SQLite is first used.
    private static let hasNoStatistics = sqlite3_config_without_memory_statistics() == SQLITE_OK

    /// - Parameters:
    ///   - path: a file, or a URI of SQLite's memory.
    ///   - waitMilliseconds: how long to wait for the lock of another process.
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
        self.handle = handle
        self.path = path
        self.role = role
        self.waitMilliseconds = waitMilliseconds
        sqlite3_extended_result_codes(handle, 1)
        // Small pieces of memory of the connection's own, which need no allocator.
        _ = sqlite3_lookaside(handle, 1200, 40)
        sqlite3_busy_timeout(handle, waitMilliseconds)
        sqlite3_create_collation_v2(handle, "C", SQLITE_UTF8, nil, { _, aCount, a, bCount, b in compareBytes(a, aCount, b, bCount) }, nil)
    }

    deinit { close() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Whether the connection may wait for a lock of another process.
    func setPatient(_ patient: Bool) {
        guard patient != self.patient else { return }
        self.patient = patient
        sqlite3_busy_timeout(handle, patient ? waitMilliseconds : 0)
    }

    var isReader: Bool { if case .reader = role { true } else { false } }

    /// Whether there is no transaction, or SQLite itself has ended it, as it does on a full disk.
    var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// How many rows were ever inserted, updated or deleted, kept or undone.
    var changes: Int32 { sqlite3_total_changes(handle) }

    /// Undoes whatever is open.
    func abandon() {
        if !isOutsideTransaction { try? run("ROLLBACK") }
        lastError = nil
        epochSeen.settle()
    }

    /// Notes that a read transaction has ended.
    func settleRead() { epochSeen.settle() }

    /// Moves what is in the log into the database as far as readers allow, without waiting for them.
    func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }

    // MARK: Statements

    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int {
        let statement = try prepared(sql)
        try statement.begin(parameters)
        defer { statement.end() }
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW:
                // What changes rows is run to its end, whatever was asked for.
                if try row(Row(source: statement)) == .enough, statement.isReadOnly { return 0 }
            case SQLITE_DONE: return statement.isReadOnly ? 0 : Int(sqlite3_changes(handle))
            case let code: throw failure(code)
            }
        }
    }

    /// Runs a statement that has neither parameters nor an answer.
    func run(_ sql: SQL) throws { _ = try run(sql, []) { _ in .more } }

    /// The first column of the first row, nil without one.
    func integer(_ sql: SQL) throws -> Int64? {
        var answer: Int64?
        _ = try run(sql, []) {
            answer = $0.int(0)
            return .enough
        }
        return answer
    }

    /// The first column of the first row, nil without one.
    func text(_ sql: SQL) throws -> String? {
        var answer: String?
        _ = try run(sql, []) {
            answer = $0.string(0)
            return .enough
        }
        return answer
    }

    private func prepared(_ sql: SQL) throws -> SQLiteStatement {
        // A statement that is being read from cannot start anew; whoever asks for it meanwhile gets one of its own.
        if let known = statements[sql.text.utf8Start], !known.isRunning { return known }
        var statement: OpaquePointer?
        let text = UnsafeRawPointer(sql.text.utf8Start).assumingMemoryBound(to: CChar.self)
        let code = sqlite3_prepare_v3(
            handle, text, Int32(sql.text.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        let fresh = try SQLiteStatement(statement)
        if isReader, !fresh.isReadOnly { throw StoreError.failed(reason: "a read must not write: \(sql.text)") }
        if statements[sql.text.utf8Start] == nil { statements[sql.text.utf8Start] = fresh }
        return fresh
    }

    /// Runs a statement with a table's name in it, which so is no literal, once with each of `runs`, and does not keep it.
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
                try row(Row(source: statement))
                code = sqlite3_step(handle)
            }
            guard code == SQLITE_DONE else { throw failure(code) }
        }
    }

    /// Runs statements that are needed once, without keeping them.
    func execute(_ text: SQL) throws {
        let code = sqlite3_exec(handle, UnsafeRawPointer(text.text.utf8Start).assumingMemoryBound(to: CChar.self), nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: Int32) -> any Error {
        let error: any Error
        switch SQLiteFailure.storeError(code, of: handle, path: path) {
        case .busy where !patient: error = WouldWait()
        case let other: error = other
        }
        lastError = error
        return error
    }
}

/// Byte order, as PostgreSQL's collation C has it.
private func compareBytes(_ a: UnsafeRawPointer?, _ aCount: Int32, _ b: UnsafeRawPointer?, _ bCount: Int32) -> Int32 {
    let first = UnsafeRawBufferPointer(start: a, count: Int(aCount))
    let second = UnsafeRawBufferPointer(start: b, count: Int(bCount))
    for (x, y) in zip(first, second) where x != y { return x < y ? -1 : 1 }
    return aCount == bCount ? 0 : aCount < bCount ? -1 : 1
}
