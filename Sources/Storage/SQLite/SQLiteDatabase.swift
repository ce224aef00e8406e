import CSQLite
import Platform
import Synchronization

/// A store in a SQLite file, which several processes may share, or in memory.
public final class SQLiteDatabase: Database {
    public enum Location: Sendable, Hashable {
        case memory
        case file(String)
    }

    private let location: Location
    private let target: (path: String, isURI: Bool)
    private let schemaVersion: Int
    /// Only its leader touches the writing connection.
    private let group = GroupCommit()
    private let writer: Owned<SQLiteConnection>
    private let readers = Mutex<[Owned<SQLiteConnection>]>([])
    /// Only for a memory store: SQLite's own locks there know no waiting.
    private let memoryLock: ReaderWriterLock?
    private let counters = Mutex((commits: Int64(0), writes: Int64(0)))
    private static let idleReaders = 40

    /// Opens a store and brings its schema up to date; makes it if it is not there. Its files are for this user alone.
    ///
    /// - Parameters:
    ///   - migrations: every step of the schema, in order.
    ///   - migrates: whether steps that are missing may be run.
    ///   - connectionId: a name for the writing connection that no other has, such as a UUID.
    /// - Throws: `StoreError`.
    public init(_ location: Location, migrations: [Migration], migrates: Bool = true, connectionId: String) throws {
        self.location = location
        switch location {
        case .memory:
            target = ("file:/mintmark-\(connectionId)?vfs=memdb", true)
            memoryLock = ReaderWriterLock()
        case .file(let path):
            try StoreFile.prepare(path)
            target = (path, false)
            memoryLock = nil
        }
        let connection = try SQLiteConnection(path: target.path, uri: target.isURI, connectionId: connectionId)
        schemaVersion = try SQLiteOpening.prepare(connection, at: location, migrations: migrations, migrates: migrates)
        writer = Owned(connection)
    }

    // MARK: Reading

    public func read<R>(_ body: (Transaction) throws -> R) throws -> R {
        let patient = Patience.current == .full
        if let memoryLock {
            guard patient ? memoryLock.lockForReading() : memoryLock.tryLockForReading() else { throw WouldWait() }
        }
        defer { memoryLock?.unlock() }
        let owned = try reader()
        defer { giveBack(owned) }
        let connection = owned.value
        connection.setPatient(patient)
        try connection.run("BEGIN")
        do {
            let result = try body(Transaction(connection))
            try connection.run("COMMIT")
            return result
        } catch {
            if !connection.isOutsideTransaction { try? connection.run("ROLLBACK") }
            throw error
        }
    }

    private func reader() throws -> Owned<SQLiteConnection> {
        if let idle = readers.withLock({ $0.popLast() }) { return idle }
        let connection = try SQLiteConnection(path: target.path, uri: target.isURI)
        try SQLiteOpening.configure(connection)
        return Owned(connection)
    }

    private func giveBack(_ reader: Owned<SQLiteConnection>) {
        // Closing costs a system call or two; do it outside the lock.
        let surplus = readers.withLock { idle -> Owned<SQLiteConnection>? in
            if idle.count >= Self.idleReaders { return reader }
            idle.append(reader)
            return nil
        }
        _ = surplus
    }

    // MARK: Writing

    public func write<R>(_ body: (Transaction) throws -> R) throws -> R {
        guard Patience.current == .full else { throw WouldWait() }
        var result: R?
        try withoutActuallyEscaping(body) { body in
            try group.run(GroupCommit.Job { result = try body($0) }, commit: commit)
        }
        return result!
    }

    private func commit(_ jobs: [GroupCommit.Job]) -> [(any Error)?] {
        memoryLock?.lockForWriting()
        defer { memoryLock?.unlock() }
        let connection = writer.value
        var errors = [(any Error)?](repeating: nil, count: jobs.count)
        do {
            try connection.run("BEGIN IMMEDIATE")
            if jobs.count == 1 {
                try run(jobs[0], alone: true, &errors[0], connection)
            } else {
                for index in jobs.indices { try run(jobs[index], alone: false, &errors[index], connection) }
            }
            if !connection.isOutsideTransaction { try connection.run("COMMIT") }
        } catch {
            // Nobody gets an answer for what was not committed.
            if !connection.isOutsideTransaction { try? connection.run("ROLLBACK") }
            connection.forgetEpoch()
            return errors.map { $0 ?? error }
        }
        counters.withLock {
            $0.commits += 1
            $0.writes += Int64(jobs.count)
        }
        return errors
    }

    /// Runs one write. An error of its own undoes it alone.
    ///
    /// - Throws: what ends the whole transaction.
    private func run(_ job: GroupCommit.Job, alone: Bool, _ failure: inout (any Error)?, _ connection: SQLiteConnection) throws {
        if !alone { try connection.run("SAVEPOINT one") }
        do { try job.run(Transaction(connection)) } catch {
            connection.forgetEpoch()
            if connection.isOutsideTransaction { throw error }
            failure = error
            if alone { try connection.run("ROLLBACK") } else { try connection.run("ROLLBACK TO one") }
        }
        if !alone { try connection.run("RELEASE one") }
    }

    // MARK: The store itself

    public func facts() throws -> StoreFacts {
        let (commits, writes) = counters.withLock { $0 }
        let bytes = try read { tx in
            try tx.queryOne("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()") { $0.int(0) } ?? 0
        }
        switch location {
        case .memory:
            return StoreFacts(kind: .memory, path: nil, schemaVersion: schemaVersion, bytes: bytes, commits: commits, writes: writes)
        case .file(let path):
            return StoreFacts(kind: .sqlite, path: path, schemaVersion: schemaVersion, bytes: bytes, commits: commits, writes: writes)
        }
    }

    /// What SQLite finds wrong with the file, nothing if all is well. Reads every page.
    public func damage() throws -> [String] {
        try read { tx in try tx.query("PRAGMA quick_check(20)") { $0.string(0) } }.filter { $0 != "ok" }
    }

    public func close() {
        readers.withLock { $0 = [] }
        if case .file = location { try? write { _ in try? self.writer.value.run("SELECT 1") } }
    }
}

/// Carries a value that is not `Sendable` to whoever owns it next; one owner at a time.
struct Owned<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
