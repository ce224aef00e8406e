import CSQLite

/// One connection to a SQLite database with its prepared statements. Used by one thread at a time.
final class SQLiteConnection: Session {
    let handle: OpaquePointer
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]
    let connectionId: String
    private let path: String
    private var patient = true
    private var seen: (dataVersion: Int64, epoch: Int64)?

    /// How long to wait for another process's lock.
    static let busyMilliseconds: Int32 = 5_000

    /// - Throws: `StoreError.cannotOpen`.
    init(path: String, uri: Bool, connectionId: String = "") throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | (uri ? SQLITE_OPEN_URI : 0)
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw StoreError.cannotOpen(path: path, reason: reason)
        }
        self.handle = handle
        self.path = path
        self.connectionId = connectionId
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        sqlite3_create_collation_v2(handle, "C", SQLITE_UTF8, nil, { _, aCount, a, bCount, b in compareBytes(a, aCount, b, bCount) }, nil)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Whether the connection may wait for a lock of another process.
    func setPatient(_ patient: Bool) {
        guard patient != self.patient else { return }
        self.patient = patient
        sqlite3_busy_timeout(handle, patient ? Self.busyMilliseconds : 0)
    }

    /// Whether SQLite itself has ended the transaction, as it does on a full disk.
    var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

    // MARK: Statements

    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> Void) throws -> Int {
        let statement = try prepared(sql)
        defer { statement.reset() }
        for (position, value) in parameters.enumerated() { try statement.bind(value.sqlParameter, at: position) }
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW: try row(Row(source: statement))
            case SQLITE_DONE: return statement.isReadOnly ? 0 : Int(sqlite3_changes(handle))
            case let code: throw error(code)
            }
        }
    }

    /// Runs a statement that has neither parameters nor an answer.
    func run(_ sql: SQL) throws { _ = try run(sql, []) { _ in } }

    /// The first column of the first row, nil without one.
    func integer(_ sql: SQL) throws -> Int64? {
        var answer: Int64?
        _ = try run(sql, []) { if answer == nil { answer = $0.int(0) } }
        return answer
    }

    private func prepared(_ sql: SQL) throws -> SQLiteStatement {
        if let known = statements[sql.text.utf8Start] { return known }
        var statement: OpaquePointer?
        let text = UnsafeRawPointer(sql.text.utf8Start).assumingMemoryBound(to: CChar.self)
        let code = sqlite3_prepare_v3(
            handle, text, Int32(sql.text.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code) }
        let fresh = SQLiteStatement(statement)
        statements[sql.text.utf8Start] = fresh
        return fresh
    }

    /// Runs several statements given as text of this module's own.
    func execute(_ text: String) throws {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    func lock(_ ids: [String]) throws {}

    // MARK: Epoch

    /// SQLite's data version changes when another connection has committed anything; only then the row is read again.
    func epoch() throws -> Int64 {
        let dataVersion = try integer("PRAGMA data_version") ?? 0
        if let seen, seen.dataVersion == dataVersion { return seen.epoch }
        let epoch = try integer("SELECT value FROM mintmark_meta WHERE name = 'epoch'") ?? 0
        seen = (dataVersion, epoch)
        return epoch
    }

    func advanceEpoch() throws {
        try run("UPDATE mintmark_meta SET value = value + 1 WHERE name = 'epoch'")
        seen = nil
    }

    /// Forgets what was seen in a transaction that may have been undone.
    func forgetEpoch() { seen = nil }

    // MARK: Errors

    func error(_ code: Int32) -> any Error {
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return patient ? StoreError.busy : WouldWait()
        case SQLITE_READONLY, SQLITE_PERM: return StoreError.readOnly(reason: reason)
        case SQLITE_FULL: return StoreError.full
        case SQLITE_CORRUPT: return StoreError.corrupt(reason: reason)
        case SQLITE_NOTADB: return StoreError.notAStore(path: path)
        case SQLITE_CANTOPEN: return StoreError.cannotOpen(path: path, reason: reason)
        case SQLITE_IOERR: return ioError(code, reason)
        default: return StoreError.failed(reason: "\(reason) (SQLite \(code))")
        }
    }

    private func ioError(_ code: Int32, _ reason: String) -> StoreError {
        // SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC, _TRUNCATE, _SHMSIZE: macros that Swift cannot read.
        let writing: [Int32] = [3, 4, 5, 6, 19]
        return writing.contains(code >> 8) ? .full : .corrupt(reason: "\(reason) (SQLite \(code))")
    }
}

/// Byte order, as PostgreSQL's collation C has it.
private func compareBytes(_ a: UnsafeRawPointer?, _ aCount: Int32, _ b: UnsafeRawPointer?, _ bCount: Int32) -> Int32 {
    let first = UnsafeRawBufferPointer(start: a, count: Int(aCount))
    let second = UnsafeRawBufferPointer(start: b, count: Int(bCount))
    for (x, y) in zip(first, second) where x != y { return x < y ? -1 : 1 }
    return aCount == bCount ? 0 : aCount < bCount ? -1 : 1
}
