import CSQLite

/// A prepared statement. `$1` is a name to SQLite, so each parameter's position is asked for once.
final class SQLiteStatement: RowSource {
    let handle: OpaquePointer
    let isReadOnly: Bool
    private let positions: [Int32]

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ handle: OpaquePointer) {
        self.handle = handle
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
        var positions: [Int32] = []
        for number in 1...16 {
            let position = sqlite3_bind_parameter_index(handle, "$\(number)")
            if position == 0 { break }
            positions.append(position)
        }
        self.positions = positions
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ value: SQLParameter, at index: Int) throws {
        guard index < positions.count else { throw StoreError.failed(reason: "a statement has no parameter $\(index + 1)") }
        let position = positions[index]
        let code =
            switch value {
            case .null: sqlite3_bind_null(handle, position)
            case .integer(let integer): sqlite3_bind_int64(handle, position, integer)
            case .bool(let bool): sqlite3_bind_int64(handle, position, bool ? 1 : 0)
            case .text(var text):
                text.withUTF8 { utf8 in
                    // An empty buffer may have no address, which SQLite would take for NULL.
                    utf8.withMemoryRebound(to: CChar.self) {
                        $0.isEmpty
                            ? sqlite3_bind_text(handle, position, "", 0, Self.transient)
                            : sqlite3_bind_text(handle, position, $0.baseAddress, Int32($0.count), Self.transient)
                    }
                }
            case .bytes(let bytes):
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(handle, position, 0)
                    : sqlite3_bind_blob(handle, position, bytes, Int32(bytes.count), Self.transient)
            }
        if code != SQLITE_OK { throw StoreError.failed(reason: "parameter $\(index + 1) cannot be bound (SQLite \(code))") }
    }

    /// Ends the statement's run and lets go of what was bound, secrets among it.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

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
