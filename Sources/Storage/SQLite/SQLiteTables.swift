import CSQLite

extension SQLiteConnection {
    func columns(of table: String) throws -> [TableColumn] {
        var columns: [TableColumn] = []
        _ = try run("SELECT name, type FROM pragma_table_info($1) ORDER BY cid", [table]) {
            columns.append(TableColumn(name: $0.string(0), type: $0.string(1)))
            return .more
        }
        return columns
    }

    func copyRows(of table: String, _ columns: [TableColumn], _ take: ([SQLParameter]) throws -> Void) throws {
        try runOnce("SELECT \(columns.names) FROM \(quoted(table))", [[]]) { row in
            try take(columns.enumerated().map { $1.value(of: row, $0) })
        }
    }

    func insert(into table: String, _ columns: [TableColumn], _ rows: [[SQLParameter]]) throws {
        let text = "INSERT INTO \(quoted(table)) (\(columns.names)) VALUES (\(columns.places))"
        try runOnce(text, rows) { _ in }
    }

    /// Does nothing: SQLite limits the time that it waits for locks only.
    func allowLongStatements() throws {}

    /// Does nothing: SQLite has one writer.
    func keepOthersOut(of tables: [String]) throws {}

    /// Returns the number of rows of each table of the store, by table name.
    func rowCounts() throws -> [String: Int64] {
        var names: [String] = []
        _ = try run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'", []) {
            names.append($0.string(0))
            return .more
        }
        var counts: [String: Int64] = [:]
        for name in names { counts[name] = try count("SELECT COUNT(*) FROM \(quoted(name))") }
        return counts
    }

    /// Deletes all rows of the tables.
    func empty(_ tables: [String]) throws { for name in tables { _ = try count("DELETE FROM \(quoted(name))") } }

    /// Returns the single number in the result of a statement, or 0 without a row. The text contains a table name, so it cannot be a
    /// literal.
    private func count(_ text: String) throws -> Int64 {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_prepare_v2(handle, text, -1, &statement, nil)
        if code == SQLITE_OK { code = sqlite3_step(statement) }
        if code == SQLITE_DONE { return 0 }
        guard code == SQLITE_ROW else { throw SQLiteFailure.storeError(code, of: handle, path: "") }
        return sqlite3_column_int64(statement, 0)
    }
}
