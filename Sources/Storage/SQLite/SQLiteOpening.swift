import CSQLite
import Glibc
import Platform

/// What happens between opening a SQLite file and using it as a store.
enum SQLiteOpening {
    /// Stands in the file's header: this is a store of ours and nothing else ("MMRK").
    private static let applicationId: Int64 = 0x4D4D_524B

    /// The path from the root, so that it stays the same file and is no URI, whatever it looks like.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return "./\(path)" }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    /// Settings that every connection needs.
    static func configure(_ connection: SQLiteConnection) throws {
        try connection.execute(
            """
            PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1024;
            PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = 16777216
            """)
    }

    /// Makes a new file a store, brings an old one up to date, and refuses what is neither.
    ///
    /// - Returns: the schema version, before and after.
    static func prepare(
        _ connection: SQLiteConnection, isFile: Bool, path: String, migrations: [Migration], migrates: Bool, makesStore: Bool,
        deadline: UInt64
    ) throws -> SchemaVersions {
        try configure(connection)
        // Nearly always there is nothing to do, and finding that out takes no lock. What belongs to others stays as it is.
        let before = try look(connection, path)
        if case .nothing = before, !makesStore {
            throw StoreError.cannotOpen(path: path, reason: "the file is empty and contains no store")
        }
        if isFile { try switchToWAL(connection, deadline) }
        let supported = migrations.last?.version ?? 0
        if case .store(let version) = before, version >= supported { return try accept(version, supported) }
        do {
            try connection.run("BEGIN IMMEDIATE")
            let versions = try migrate(connection, path, migrations, migrates)
            try connection.run("COMMIT")
            return versions
        } catch {
            connection.abandon()
            throw error
        }
    }

    /// Looks at one moment of a file that another process may be filling.
    private static func look(_ connection: SQLiteConnection, _ path: String) throws -> Contents {
        do {
            try connection.run("BEGIN")
            let contents = try Contents(of: connection, path)
            try connection.run("COMMIT")
            return contents
        } catch {
            connection.abandon()
            throw error
        }
    }

    /// Runs what is missing, seen from inside the lock: another process may have been faster.
    private static func migrate(_ connection: SQLiteConnection, _ path: String, _ migrations: [Migration], _ migrates: Bool) throws
        -> SchemaVersions
    {
        let supported = migrations.last?.version ?? 0
        var found = 0
        switch try Contents(of: connection, path) {
        case .store(let version): found = version
        case .nothing: try begin(connection)
        }
        if found >= supported { return try accept(found, supported) }
        if found > 0, !migrates { throw StoreError.tooOld(found: found, needed: supported) }
        for migration in migrations where migration.version > found {
            for statement in migration.statements + migration.sqliteStatements { try connection.execute(statement) }
        }
        _ = try connection.run("UPDATE mintmark_meta SET value = $1 WHERE name = 'schema_version'", [supported]) { _ in .more }
        return SchemaVersions(found: found, now: supported)
    }

    /// A binary runs on its own schema version and the next one.
    private static func accept(_ found: Int, _ supported: Int) throws -> SchemaVersions {
        if found > supported + 1 { throw StoreError.tooNew(found: found, supported: supported) }
        return SchemaVersions(found: found, now: found)
    }

    private static func begin(_ connection: SQLiteConnection) throws {
        try connection.execute(
            """
            PRAGMA application_id = 1296912971;
            CREATE TABLE mintmark_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
            INSERT INTO mintmark_meta (name, value) VALUES ('schema_version', 0), ('epoch', 1)
            """)
    }

    /// What stands in a file.
    private enum Contents {
        case nothing
        case store(version: Int)

        /// - Throws: `StoreError.notAStore` if the file carries another mark, or tables and no mark.
        init(of connection: SQLiteConnection, _ path: String) throws {
            let mark = try connection.integer("PRAGMA application_id") ?? 0
            if mark == applicationId {
                self = .store(version: try Self.version(connection))
            } else if try mark == 0 && connection.integer("SELECT COUNT(*) FROM sqlite_schema") == 0 {
                self = .nothing
            } else {
                throw StoreError.notAStore(path: path)
            }
        }

        private static func version(_ connection: SQLiteConnection) throws -> Int {
            do {
                let version = try connection.integer("SELECT value FROM mintmark_meta WHERE name = 'schema_version'")
                if let version { return Int(version) }
            } catch StoreError.failed {}
            throw StoreError.corrupt(reason: "the store's schema version is missing")
        }
    }

    /// SQLite does not wait for others when it changes the journal, so this does.
    private static func switchToWAL(_ connection: SQLiteConnection, _ deadline: UInt64) throws {
        while true {
            do {
                let mode = try connection.text("PRAGMA journal_mode = WAL")
                guard mode == "wal" else {
                    throw StoreError.readOnly(reason: "the write-ahead log of SQLite does not work on this file system")
                }
                return
            } catch StoreError.busy where Monotonic.nanoseconds() < deadline { usleep(10_000) }
        }
    }
}
