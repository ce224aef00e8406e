import Platform

/// Prepares a PostgreSQL database for use as a store.
enum PostgresOpening {
    /// The advisory lock ("MMRK") that protects the creation and migration of the schema.
    private static let lockNumber: Int64 = 0x4D4D_524B

    /// Creates the store in an empty database, migrates an older store, and rejects a database that belongs to another program. If several
    /// processes start at the same time, one of them does this work and the others wait.
    ///
    /// - Returns: The schema versions before and after.
    /// - Throws: `PostgresFailure`, `StoreError`.
    static func prepare(
        _ connection: PostgresConnection, migrations: [Migration], options: OpeningOptions
    ) throws -> SchemaVersions {
        do {
            let supported = migrations.last?.version ?? 0
            // Usually no migration is necessary, and this check takes no lock. The transaction is READ COMMITTED because the catalog is
            // always read in its current state; a snapshot could miss the rows of a table that was created a moment ago.
            try connection.beginWrite(.readCommitted)
            let before = try contents(connection)
            try connection.execute("COMMIT")
            if case .nothing = before, !options.makesStore {
                throw StoreError.cannotOpen(path: connection.address.description, reason: "the database is empty and contains no store")
            }
            if case .store(let version) = before, version >= supported { return try accept(version, supported) }
            try connection.beginWrite(.readCommitted)
            try connection.execute("SET LOCAL lock_timeout = 60000; SET LOCAL statement_timeout = 0")
            try connection.execute("SELECT pg_advisory_xact_lock(\(lockNumber))")
            let versions = try migrate(connection, migrations, options.migrates)
            try connection.execute("COMMIT")
            connection.abandon()
            return versions
        } catch {
            let failure = connection.failure
            connection.abandon()
            throw failure ?? error
        }
    }

    /// Runs the missing migrations. The caller holds the lock.
    private static func migrate(_ connection: PostgresConnection, _ migrations: [Migration], _ migrates: Bool) throws -> SchemaVersions {
        let supported = migrations.last?.version ?? 0
        var found = 0
        switch try contents(connection) {
        case .store(let version): found = version
        case .nothing: try begin(connection)
        }
        if found >= supported { return try accept(found, supported) }
        if found > 0, !migrates { throw StoreError.tooOld(found: found, needed: supported) }
        for migration in migrations where migration.version > found {
            for (number, statement) in migration.statements.enumerated() {
                migration.willRun?(number)
                try connection.execute(comparingTextByBytes(statement.text.description))
            }
        }
        try connection.execute("UPDATE mintmark_meta SET value = \(supported) WHERE name = 'schema_version'")
        return SchemaVersions(found: found, now: supported)
    }

    /// Checks the version: a binary supports its own schema version and the next one.
    private static func accept(_ found: Int, _ supported: Int) throws -> SchemaVersions {
        if found > supported + 1 { throw StoreError.tooNew(found: found, supported: supported) }
        return SchemaVersions(found: found, now: found)
    }

    private static func begin(_ connection: PostgresConnection) throws {
        try connection.execute(comparingTextByBytes("CREATE TABLE mintmark_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL)"))
        try connection.execute("INSERT INTO mintmark_meta (name, value) VALUES ('schema_version', 0), ('epoch', 1)")
        try connection.execute(comparingTextByBytes(CommitMarker.table.text.description))
    }

    /// SQLite compares text by bytes, and PostgreSQL must do the same: the collation of the database can be that of any language. Gives each
    /// column of type TEXT the collation "C". A change of the columns afterwards would create each index again.
    static func comparingTextByBytes(_ statement: String) -> String {
        guard statement.includes("TABLE ") else { return statement }
        var changed = ""
        var rest = statement[...]
        while let type = rest.firstRange(of: " TEXT") {
            changed += rest[..<type.upperBound]
            rest = rest[type.upperBound...]
            if let next = rest.first, next.isLetter || next == "_" { continue }
            changed += " COLLATE \"C\""
        }
        return changed + rest
    }

    // MARK: Contents

    private enum Contents {
        case nothing
        case store(version: Int)
    }

    /// - Throws: `StoreError.notAStore` if the schema contains tables of another program only.
    private static func contents(_ connection: PostgresConnection) throws -> Contents {
        let looked = try connection.run(
            """
            SELECT current_schema() IS NOT NULL, to_regclass(quote_ident(current_schema()) || '.mintmark_meta') IS NOT NULL,
                EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e'))
            """, [])
        let address = connection.address.description
        guard looked.int(0) == 1 else { throw StoreError.cannotOpen(path: address, reason: "no schema in its search_path exists") }
        guard looked.int(1) == 1 else {
            if looked.int(2) == 1 { throw StoreError.notAStore(path: address) }
            return .nothing
        }
        let version = try connection.run("SELECT value FROM mintmark_meta WHERE name = 'schema_version'", [])
        guard version.rowCount == 1 else { throw StoreError.corrupt(reason: "the store's schema version is missing") }
        return .store(version: Int(version.int(0)))
    }
}
