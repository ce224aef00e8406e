import CSQLite

/// A prepared statement. `$1` is a name to SQLite, so each parameter's position is asked for once.
final class SQLiteStatement: RowSource {
    let handle: OpaquePointer
    let isReadOnly: Bool
    /// Whether someone is reading its rows.
    private(set) var isRunning = false
    private let positions: [Int32]

    // SQLITE_TRANSIENT: SQLite makes a copy of its own.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// - Throws: `StoreError.failed` if the parameters are not exactly `$1` to `$n`.
    init(_ handle: OpaquePointer) throws(StoreError) {
        self.handle = handle
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
        let count = sqlite3_bind_parameter_count(handle)
        positions = count == 0 ? [] : (1...count).map { sqlite3_bind_parameter_index(handle, "$\($0)") }
        if positions.contains(0) { throw .failed(reason: "the parameters of a statement are not $1 to $\(count): \(text)") }
    }

    deinit { sqlite3_finalize(handle) }

    private var text: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    // MARK: Running

    /// - Throws: `StoreError.failed` if there are not as many values as the statement has parameters.
    func begin(_ values: [any SQLValue]) throws(StoreError) {
        guard values.count == positions.count else {
            throw .failed(reason: "a statement has \(positions.count) parameters and got \(values.count) values: \(text)")
        }
        for (position, value) in zip(positions, values) {
            let code = bind(value.sqlParameter, at: position)
            if code != SQLITE_OK { throw .failed(reason: "a value for \(text) cannot be bound (SQLite \(code))") }
        }
        isRunning = true
    }

    /// Ends the statement's run and lets go of what was bound, secrets among it.
    func end() {
        sqlite3_reset(handle)
        if !positions.isEmpty { sqlite3_clear_bindings(handle) }
        isRunning = false
    }

    private func bind(_ value: SQLParameter, at position: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, position)
        case .integer(let integer): return sqlite3_bind_int64(handle, position, integer)
        case .bool(let bool): return sqlite3_bind_int64(handle, position, bool ? 1 : 0)
        case .text(var text):
            return text.withUTF8 { utf8 in
                // An empty buffer may have no address, which SQLite would take for NULL.
                guard let start = utf8.baseAddress else { return sqlite3_bind_text(handle, position, "", 0, Self.transient) }
                return start.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
                    sqlite3_bind_text64(handle, position, $0, UInt64(utf8.count), Self.transient, UInt8(SQLITE_UTF8))
                }
            }
        case .bytes(let bytes):
            if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, position, 0) }
            return sqlite3_bind_blob64(handle, position, bytes, UInt64(bytes.count), Self.transient)
        }
    }

    // MARK: The row at hand

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    func int(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    func string(_ column: Int) -> String {
        guard let text = sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int) -> [UInt8] {
        guard let blob = sqlite3_column_blob(handle, Int32(column)) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }
}
