import CSQLite

extension SQLiteConnection {
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

extension PostgresConnection {
    /// Returns the number of rows of each table of the store, by table name.
    ///
    /// The rows of a partition are those of its table (`schemas/guides/scaling.md`).
    func rowCounts() throws -> [String: Int64] {
        var names: [String] = []
        _ = try run(
            """
            SELECT relname::TEXT FROM pg_class
            WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
            """, []
        ) {
            names.append($0.string(0))
            return .more
        }
        var counts: [String: Int64] = [:]
        for name in names { counts[name] = Int64(try execute("SELECT COUNT(*)::TEXT FROM \(quoted(name))").string(0)) }
        return counts
    }

    /// Deletes all rows of the tables.
    func empty(_ tables: [String]) throws { for name in tables { try execute("DELETE FROM \(quoted(name))") } }
}
