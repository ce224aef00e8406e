/// A column of a table, with the properties required to copy its rows.
public struct TableColumn: Hashable, Sendable {
    /// The type of a column. Every column of the store has one of these types.
    public enum Kind: String, Sendable { case text, integer, bool, bytes }

    public let name: String
    public let kind: Kind

    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// - Parameter type: The type in the table definition, or the name of the type in PostgreSQL.
    init(name: String, type: String) {
        let kind: Kind =
            switch type.uppercased() {
            case "BIGINT", "INT8": .integer
            case "BOOLEAN", "BOOL": .bool
            case "BYTEA": .bytes
            default: .text
            }
        self.init(name: name, kind: kind)
    }

    fileprivate func value(of row: Row, _ position: Int) -> SQLParameter {
        if row.isNull(position) { return .null }
        return switch kind {
        case .text: .text(row.string(position))
        case .integer: .integer(row.int(position))
        case .bool: .bool(row.bool(position))
        case .bytes: .bytes(row.bytes(position))
        }
    }
}

extension SQLParameter: SQLValue { public var sqlParameter: SQLParameter { self } }

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
}

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
}

extension [TableColumn] {
    fileprivate var names: String { map { quoted($0.name) }.joined(separator: ", ") }
    fileprivate var places: String { indices.map { "$\($0 + 1)" }.joined(separator: ", ") }
}

/// Returns a name as a quoted SQL identifier.
func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
