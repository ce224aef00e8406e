import CSQLite
import Glibc

/// What happens between opening a SQLite file and using it as a store.
enum SQLiteOpening {
    /// Stands in the file's header: this is a store of ours and nothing else.
    private static let applicationId: Int64 = 0x4D4D_524B

    /// Settings that every connection needs.
    static func configure(_ connection: SQLiteConnection) throws {
        try connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1024")
    }

    /// Makes a new file a store, brings an old one up to date, and refuses what is neither.
    ///
    /// - Returns: the schema version.
    static func prepare(
        _ connection: SQLiteConnection, at location: SQLiteDatabase.Location, migrations: [Migration], migrates: Bool
    ) throws -> Int {
        let supported = migrations.last?.version ?? 0
        try configure(connection)
        if case .file(let path) = location {
            try refuseForeign(connection, path)
            try switchToWAL(connection)
        }
        // Nearly always there is nothing to do, and finding that out takes no lock.
        if let version = try version(connection), version >= supported { return try accept(version, supported) }
        try connection.run("BEGIN IMMEDIATE")
        do {
            let found = try version(connection)
            if let found, found > supported { _ = try accept(found, supported) }
            if let found, !migrates, found < supported { throw StoreError.tooOld(found: found, needed: supported) }
            if found == nil { try begin(connection) }
            for migration in migrations where migration.version > found ?? 0 {
                for statement in migration.statements { try connection.run(statement) }
            }
            try connection.execute("UPDATE mintmark_meta SET value = \(supported) WHERE name = 'schema_version'")
            try connection.run("COMMIT")
        } catch {
            if !connection.isOutsideTransaction { try? connection.run("ROLLBACK") }
            throw error
        }
        return supported
    }

    /// A binary runs on its own schema version and the next one.
    private static func accept(_ found: Int, _ supported: Int) throws -> Int {
        if found > supported + 1 { throw StoreError.tooNew(found: found, supported: supported) }
        return found
    }

    private static func begin(_ connection: SQLiteConnection) throws {
        try connection.execute(
            """
            PRAGMA application_id = \(applicationId);
            CREATE TABLE mintmark_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
            INSERT INTO mintmark_meta (name, value) VALUES ('schema_version', 0), ('epoch', 1)
            """)
    }

    private static func version(_ connection: SQLiteConnection) throws -> Int? {
        guard try connection.integer("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'mintmark_meta'") == 1 else { return nil }
        return try connection.integer("SELECT value FROM mintmark_meta WHERE name = 'schema_version'").map { Int($0) }
    }

    /// A file with tables in it that does not carry our mark belongs to somebody else.
    private static func refuseForeign(_ connection: SQLiteConnection, _ path: String) throws {
        if try connection.integer("PRAGMA application_id") == applicationId { return }
        if try connection.integer("SELECT COUNT(*) FROM sqlite_schema") ?? 0 > 0 { throw StoreError.notAStore(path: path) }
    }

    /// SQLite does not wait for others when it changes the journal, so this does.
    private static func switchToWAL(_ connection: SQLiteConnection) throws {
        for attempt in 0... {
            do { return try connection.execute("PRAGMA journal_mode = WAL") } catch StoreError.busy where attempt < 250 { usleep(20_000) }
        }
    }
}
