import Storage
import Synchronization
import Testing

/// A kind of database on which the conformance tests run. Add a new driver to `all`.
struct Backend: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Creates an empty store with these migrations.
    let make: @Sendable (_ migrations: [Migration]) throws -> any Database

    /// The backends for tests of behavior that every driver must implement.
    static let all = [memory, file, postgres]
    /// The backends for tests of behavior specific to SQLite.
    static let embedded = [memory, file]

    static let memory = Backend(testDescription: "SQLite in memory") { migrations in
        try SQLiteDatabase(.memory, migrations: migrations, connectionId: uniqueName())
    }

    static let file = Backend(testDescription: "SQLite on disk") { migrations in
        try SQLiteDatabase(.file(TemporaryFolder.shared.path(uniqueName())), migrations: migrations, connectionId: uniqueName())
    }

    static let postgres = Backend(testDescription: "PostgreSQL") { migrations in
        try PostgresDatabase(PostgresServer.shared.newDatabase(), migrations: migrations, connectionId: uniqueName())
    }

    func open() throws -> any Database { try make(testSchema) }
}

/// The schema of the stores in the tests.
let testSchema = [
    Migration(
        version: 1,
        statements: [
            "CREATE TABLE item (id TEXT PRIMARY KEY, number BIGINT, note TEXT, flag BOOLEAN, data BYTEA)",
            "CREATE TABLE part (id TEXT PRIMARY KEY, item_id TEXT NOT NULL REFERENCES item (id) ON DELETE CASCADE)",
        ])
]

struct Refused: Error {}

extension Database {
    func insert(_ id: String, _ number: Int = 0) throws {
        try write { tx in _ = try tx.execute("INSERT INTO item (id, number) VALUES ($1, $2)", id, number) }
    }

    func count() throws -> Int64 {
        try read { tx in try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) } ?? -1 }
    }

    func has(_ id: String) throws -> Bool {
        try read { tx in try tx.queryOne("SELECT id FROM item WHERE id = $1", id) { $0.string(0) } != nil }
    }
}

private let names = Atomic<Int>(0)

/// A name that is unique within the test process.
func uniqueName() -> String { "test-\(names.wrappingAdd(1, ordering: .relaxed).newValue)" }
