import CSQLite
import Glibc
import Platform

/// Prepares a SQLite file for use as a store.
enum SQLiteOpening {
    /// The application ID in the header of the file ("MMRK"), which identifies a store of this program.
    private static let applicationId: Int64 = 0x4D4D_524B

    /// Returns the absolute path, which stays valid if the working directory changes and cannot be mistaken for a URI.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return "./\(path)" }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    /// Applies the settings that every connection needs.
    static func configure(_ connection: SQLiteConnection) throws {
        try connection.execute(
            """
            PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1024;
            PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = 16777216
            """)
    }

    /// Creates the store in a new file, migrates an older store, and rejects any other file.
    ///
    /// - Parameter usesLog: Whether the file gets a write-ahead log; not in memory, and not if it is only read.
    /// - Returns: The schema versions before and after.
    static func prepare(
        _ connection: SQLiteConnection, usesLog: Bool, path: String, migrations: [Migration], options: OpeningOptions
    ) throws -> SchemaVersions {
        let deadline = Monotonic.nanoseconds() + UInt64(options.waitMilliseconds) * 1_000_000
        try configure(connection)
        // Usually no migration is necessary, and this check takes no lock. A file of another program remains unchanged.
        let before = try look(connection, path)
        if case .nothing = before, !options.makesStore {
            throw StoreError.cannotOpen(
                path: path,
                reason: "the file is empty and contains no store. If it contained one before, restore a backup with mintmark restore "
                    + "--replace. Otherwise, mintmark serve creates a store in it")
        }
        if usesLog { try switchToWAL(connection, deadline) }
        let supported = migrations.last?.version ?? 0
        if case .store(let version) = before, version >= supported { return try accept(version, supported) }
        do {
            try connection.run("BEGIN IMMEDIATE")
            let versions = try migrate(connection, at: path, by: migrations, isAllowed: options.migrates)
            try connection.run("COMMIT")
            return versions
        } catch {
            connection.abandon()
            throw error
        }
    }

    /// Reads the contents in one transaction, because another process may be creating the store at the same time.
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

    /// Runs the missing migrations. The caller holds the lock; another process may have migrated before.
    private static func migrate(
        _ connection: SQLiteConnection, at path: String, by migrations: [Migration], isAllowed migrates: Bool
    ) throws -> SchemaVersions {
        let supported = migrations.last?.version ?? 0
        var found = 0
        switch try Contents(of: connection, path) {
        case .store(let version): found = version
        case .nothing: try begin(connection)
        }
        if found >= supported { return try accept(found, supported) }
        if found > 0, !migrates { throw StoreError.tooOld(found: found, needed: supported) }
        for migration in migrations where migration.version > found {
            for (number, statement) in (migration.statements + migration.sqliteStatements).enumerated() {
                migration.willRun?(number)
                try connection.execute(statement)
            }
        }
        _ = try connection.run("UPDATE mintmark_meta SET value = $1 WHERE name = 'schema_version'", [supported]) { _ in .more }
        return SchemaVersions(found: found, now: supported)
    }

    /// Checks the version: a binary supports its own schema version and the next one.
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

    /// The contents of a file.
    private enum Contents {
        case nothing
        case store(version: Int)

        /// - Throws: `StoreError.notAStore` if the file has another application ID, or tables and no application ID.
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

    /// Switches the journal to WAL. SQLite does not wait for locks when it changes the journal mode, so this function retries.
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
