/// A store. Bodies are synchronous, have no effect outside the transaction, and may run twice.
public protocol Database: Sendable {
    /// Runs `body` over one consistent view of the store. It must not write.
    ///
    /// - Throws: `StoreError`; `WouldWait` where the thread's `Patience` does not allow to wait; what `body` throws.
    func read<R>(_ body: (Transaction) throws -> R) throws -> R

    /// Runs `body` and returns when what it wrote is safe. If `body` throws, nothing it wrote is kept.
    ///
    /// - Parameter isolation: what of others' changes `body` may come to see.
    /// - Throws: as `read`; `StoreError.outcomeUnknown` if it cannot be found out whether it was kept.
    func write<R>(isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R

    /// Finds out whether the store is in its place and takes writes, by a write that leaves nothing behind.
    ///
    /// - Throws: `StoreError`.
    func tryToWrite() throws

    /// What can be told of the store itself.
    func facts() throws -> StoreFacts

    /// Finishes what is waiting and closes the store.
    func close()

    /// The database itself, where this only stands in front of one.
    var driver: any Database { get }
}

extension Database {
    public var driver: any Database { self }
}

/// How apart a write is from the writes of others. SQLite has one writer, so there every write is serializable.
public enum Isolation: Sendable {
    /// Each statement sees what others have committed before it. For changes that rest on unique keys (`ON CONFLICT DO NOTHING`, then
    /// looking again) or on `Transaction.lock`.
    case readCommitted
    /// All is as if nobody else wrote meanwhile; otherwise the body is run again. For link, merge and unlink, which decide by many rows.
    case serializable
}

/// Thrown by a body that was overtaken: what it decided rests on a row that somebody else has made or taken away since it looked.
/// Nothing is kept, and the body is run again. In SQLite, which has one writer, nobody is overtaken.
public struct Overtaken: Error {
    public init() {}
}

/// A choice that knows whether it changes anything.
public protocol Decision {
    var writes: Bool { get }
}

extension Database {
    /// Makes a row and takes it away again. To write one as it is would not do: SQLite writes no page for it.
    func writeNothing() throws {
        _ = try write { tx in
            let name = "trial \(tx.connectionId)"
            try tx.execute("INSERT INTO mintmark_meta (name, value) VALUES ($1, 0)", name)
            try tx.execute("DELETE FROM mintmark_meta WHERE name = $1", name)
        }
    }

    /// Runs `body` as `Isolation.readCommitted`.
    public func write<R>(_ body: (Transaction) throws -> R) throws -> R { try write(isolation: .readCommitted, body) }

    /// Reads decide, writes re-decide: gathers facts in a read and decides; only if the decision writes, opens a write
    /// transaction, gathers the facts anew, decides again and applies.
    public func decide<Facts, Choice: Decision, R>(
        reading: (Transaction) throws -> Facts, deciding: (Facts) throws -> Choice, keeping: (Choice) throws -> R,
        writing: (Transaction, Choice) throws -> R
    ) throws -> R {
        if Patience.current != .fullToWrite {
            let first = try deciding(try read(reading))
            guard first.writes else { return try keeping(first) }
        }
        return try write { tx in
            let second = try deciding(try reading(tx))
            return second.writes ? try writing(tx, second) : try keeping(second)
        }
    }
}

/// What can be told of a store, for health and for people.
public struct StoreFacts: Sendable {
    public enum Kind: String, Sendable { case memory, sqlite, postgres }

    public let kind: Kind
    /// The file, nil for a memory store.
    public let path: String?
    public let schemaVersion: Int
    /// The version that this process found when it opened the store, before it brought it up to date; 0 for one that it made.
    public let foundSchemaVersion: Int
    /// The size of the database.
    public let bytes: Int64
    /// How much of it is free for new rows.
    public let freeBytes: Int64
    /// The size of the log that is not yet, or no more, needed beside the database.
    public let logBytes: Int64
    /// SQLite's journal mode, nil for other databases.
    public let journalMode: String?
    /// How many transactions this process has committed since it opened the store, and how many writes shared them.
    public let commits: Int64
    public let writes: Int64
}

/// The versions of a store's schema before and after it was opened.
struct SchemaVersions {
    /// 0 for a store that was made.
    let found: Int
    let now: Int
}

/// One step of the schema, run once in one transaction with all that are missing.
public struct Migration: Sendable {
    public let version: Int
    public let statements: [SQL]
    /// What runs after `statements`, on SQLite only. It makes no tables under new names.
    public let sqliteStatements: [SQL]

    public init(version: Int, statements: [SQL], sqliteStatements: [SQL] = []) {
        self.version = version
        self.statements = statements
        self.sqliteStatements = sqliteStatements
    }

    /// The tables that it makes.
    public var tables: [String] {
        statements.compactMap { statement in
            let words = statement.text.description.split(separator: " ", maxSplits: 3)
            return words.count > 2 && words[0] == "CREATE" && words[1] == "TABLE" ? String(words[2]) : nil
        }
    }
}
