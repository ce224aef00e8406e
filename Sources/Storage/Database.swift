/// A store. Transaction bodies are synchronous, have no effects outside the transaction, and can run more than once.
public protocol Database: Sendable {
    /// Runs `body` on one consistent view of the store. `body` must not write.
    ///
    /// - Parameter access: Whether the read can wait, and the view in which it reads.
    /// - Throws: `StoreError`; any error that `body` throws.
    func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R

    /// Runs `body` and returns when its changes are durable. If `body` throws, its changes are rolled back.
    ///
    /// - Parameters:
    ///   - access: Whether the write can wait. The view of the access ends, so that later reads see the changes.
    ///   - isolation: The visibility of concurrent changes to `body`.
    /// - Throws: The errors of `read`; `StoreError.outcomeUnknown` if it is unknown whether the changes were committed.
    func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R

    /// Checks that the store exists and is writable, with a write that changes nothing permanently.
    ///
    /// - Throws: `StoreError`.
    func tryToWrite() throws

    /// Returns information about the store.
    func facts() throws -> StoreFacts

    /// How this object found the store when it opened it.
    var beginning: StoreBeginning { get }

    /// Completes the pending work and closes the store.
    func close()

    /// The underlying database, if this object wraps one; otherwise this object.
    var driver: any Database { get }

    /// The access of transactions that name none.
    var access: StoreAccess { get }
}

extension Database {
    public var driver: any Database { self }
    public var access: StoreAccess { .patient }

    /// Runs `body` on one consistent view of the store, with `access`.
    public func read<R>(_ body: (Transaction) throws -> R) throws -> R { try read(access, body) }

    /// Runs `body` with `access` and returns when its changes are durable.
    public func write<R>(isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        try write(access, isolation: isolation, body)
    }
}

/// The isolation of a write from concurrent writes. SQLite has one writer, so every write in SQLite is serializable.
public enum Isolation: Sendable {
    /// Each statement sees the changes that were committed before it began. Sufficient for changes that rely on unique keys
    /// (`ON CONFLICT DO NOTHING` followed by a second read) or on `Transaction.lock`.
    case readCommitted
    /// The result is as if no other write ran concurrently; otherwise `body` runs again. Required for link, merge and unlink, which
    /// depend on many rows.
    case serializable
}

/// Thrown by a body that detects a concurrent change: a row on which its decision depends was inserted or deleted after it was read.
/// The transaction is rolled back and the body runs again. Does not occur in SQLite, which has one writer.
public struct SerializationConflict: Error {
    public init() {}
}

/// A decision that states whether it requires a write.
public protocol Decision {
    var writes: Bool { get }
}

extension Database {
    /// Inserts a row and deletes it again. Rewriting an existing row with the same value is not enough, because SQLite then writes no page.
    func writeNothing() throws {
        _ = try write { tx in
            let name = "trial \(tx.connectionId)"
            try tx.execute("INSERT INTO mintmark_meta (name, value) VALUES ($1, 0)", name)
            try tx.execute("DELETE FROM mintmark_meta WHERE name = $1", name)
        }
    }

    /// Runs `body` with `Isolation.readCommitted`.
    public func write<R>(_ body: (Transaction) throws -> R) throws -> R { try write(isolation: .readCommitted, body) }

    /// Decides in a read transaction and writes only if necessary. Reads the facts and decides; if the decision requires a write, opens a
    /// write transaction, reads the facts again, decides again and applies the second decision.
    public func decide<Facts, Choice: Decision, R>(
        reading: (Transaction) throws -> Facts, deciding: (Facts) throws -> Choice, keeping: (Choice) throws -> R,
        writing: (Transaction, Choice) throws -> R
    ) throws -> R {
        if !access.decidesInWrite {
            let first = try deciding(try read(reading))
            guard first.writes else { return try keeping(first) }
        }
        return try write { tx in
            let second = try deciding(try reading(tx))
            return second.writes ? try writing(tx, second) : try keeping(second)
        }
    }
}

/// Information about a store, for health checks and reports.
public struct StoreFacts: Sendable {
    public enum Kind: String, Sendable { case memory, sqlite, postgres }

    public let kind: Kind
    /// The path of the file, or `nil` for a store in memory.
    public let path: String?
    public let schemaVersion: Int
    /// The schema version that this process found when it opened the store, before migration; 0 if the process created the store.
    public let foundSchemaVersion: Int
    /// The size of the database, in bytes.
    public let bytes: Int64
    /// The space in the database that is free for new rows, in bytes.
    public let freeBytes: Int64
    /// The size of the write-ahead log, in bytes.
    public let logBytes: Int64
    /// The journal mode of SQLite, or `nil` for other databases.
    public let journalMode: String?
    /// The number of transactions that this process has committed since it opened the store, and the number of writes in them.
    public let commits: Int64
    public let writes: Int64
}

/// How a store was found when it was opened.
public enum StoreBeginning: Sendable {
    case existing
    /// This process created the store.
    case created
    /// This process created the store in a file that existed and was empty.
    case createdInEmptyFile
}

/// The schema versions of a store before and after opening.
struct SchemaVersions {
    /// The version before opening; 0 for a new store.
    let found: Int
    let now: Int
}

/// One step of the schema. All missing steps run in one transaction.
public struct Migration: Sendable {
    public let version: Int
    public let statements: [SQL]
    /// Statements that run after `statements`, on SQLite only. They do not create tables with new names.
    public let sqliteStatements: [SQL]
    /// Runs before each statement, with its number in this migration.
    public var willRun: (@Sendable (_ statement: Int) -> Void)?

    /// The number of statements on SQLite, which has all of them.
    public var count: Int { statements.count + sqliteStatements.count }

    public init(version: Int, statements: [SQL], sqliteStatements: [SQL] = []) {
        self.version = version
        self.statements = statements
        self.sqliteStatements = sqliteStatements
    }

    /// The names of the tables that the migration creates.
    public var tables: [String] {
        statements.compactMap { statement in
            let words = statement.text.description.split(separator: " ", maxSplits: 3)
            return words.count > 2 && words[0] == "CREATE" && words[1] == "TABLE" ? String(words[2]) : nil
        }
    }
}
