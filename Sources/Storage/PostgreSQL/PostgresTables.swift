extension PostgresConnection {
    func columns(of table: String) throws -> [TableColumn] {
        var columns: [TableColumn] = []
        _ = try run(
            """
            SELECT attname::TEXT, typname::TEXT FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
            WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
            """, [table]
        ) {
            columns.append(TableColumn(name: $0.string(0), type: $0.string(1)))
            return .more
        }
        return columns
    }

    func copyRows(of table: String, _ columns: [TableColumn], _ take: ([SQLParameter]) throws -> Void) throws {
        // A cursor, because libpq otherwise keeps the whole table in memory.
        _ = try runOnce("DECLARE mintmark_rows NO SCROLL CURSOR FOR SELECT \(columns.names) FROM \(quoted(table))", [[]])
        while let result = try runOnce("FETCH 500 FROM mintmark_rows", [[]]), result.rowCount > 0 {
            for index in 0..<result.rowCount {
                result.row = index
                let row = Row(source: result)
                try take(columns.enumerated().map { $1.value(of: row, $0) })
            }
        }
        _ = try runOnce("CLOSE mintmark_rows", [[]])
    }

    func insert(into table: String, _ columns: [TableColumn], _ rows: [[SQLParameter]]) throws {
        if rows.isEmpty { return }
        transaction.hasWritten = true
        var bytes = PostgresCopyRows()
        for row in rows { try bytes.append(row) }
        try copyIn("COPY \(quoted(table)) (\(columns.names)) FROM STDIN (FORMAT binary)", bytes.finished)
    }

    /// Suspends the time limits of the server until the end of this transaction.
    func allowLongStatements() throws {
        do {
            try execute("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Locks the tables against writes of other transactions until the end of this transaction. Reads are not blocked.
    func keepOthersOut(of tables: [String]) throws {
        let names = tables.map(quoted).joined(separator: ", ")
        do { try execute("LOCK TABLE \(names) IN EXCLUSIVE MODE") } catch let failure as PostgresFailure { throw failure.error }
    }

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
