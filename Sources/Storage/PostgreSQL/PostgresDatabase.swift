import Platform
import Synchronization

/// A store in a PostgreSQL database, which any number of processes on any number of machines can share.
///
/// Every operation waits for the server, so every method of such a store starts on a thread that may wait. Bodies run on the caller's
/// thread.
public final class PostgresDatabase: Database {
    private let address: PostgresAddress
    private let versions: SchemaVersions
    private let pool: PostgresPool
    private let running = ThreadsInTransaction()
    private let counters = WriteCounters()
    private let lastMark = Atomic<Int>(0)
    private let connectionId: String
    private let waitMilliseconds: Int32

    /// Opens a store and migrates its schema. Creates the store if the database, or the current schema in it, is empty.
    ///
    /// - Parameters:
    ///   - migrations: All steps of the schema, in order.
    ///   - connectionId: A name for the writing connections that is unique among all stores, such as a UUID.
    ///   - connections: The maximum number of open connections.
    /// - Throws: `StoreError`.
    public init(
        _ address: PostgresAddress, migrations: [Migration], options: OpeningOptions = OpeningOptions(), connectionId: String,
        connections: Int = 4
    ) throws {
        let waitMilliseconds = options.waitMilliseconds
        self.address = address
        self.connectionId = connectionId
        self.waitMilliseconds = waitMilliseconds
        pool = PostgresPool(try PostgresConnecting(address, waitMilliseconds: waitMilliseconds), name: connectionId, most: connections)
        var retries = PostgresRetries(waitMilliseconds: waitMilliseconds)
        versions = try retries.run { [pool] in
            do {
                let owned = try pool.take(deadline: .max)
                defer { pool.giveBack(owned) }
                return try PostgresOpening.prepare(owned.value, migrations: migrations, options: options)
            } catch let failure as PostgresFailure { throw Undone(failure) }
        }
    }

    deinit { pool.close() }

    public func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R {
        return try repeating { connection in
            try connection.beginRead()
            return try run(body, on: connection)
        }
    }

    public func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        return try repeating { connection in
            try connection.beginWrite(isolation)
            return try run(body, on: connection)
        }
    }

    public func close() {
        pool.close()
        pool.waitUntilClosed()
    }

    // MARK: Attempts

    private func run<R>(_ body: (Transaction) throws -> R, on connection: PostgresConnection) throws -> R {
        let transaction = Transaction(connection)
        defer { transaction.end() }
        return try body(transaction)
    }

    /// Runs `body` on a connection and commits. Repeats both as long as PostgreSQL rolls back for temporary reasons.
    private func repeating<R>(_ body: (PostgresConnection) throws -> R) throws -> R {
        try running.enter()
        defer { running.leave() }
        // Behind a pooler, the queue of this process is part of a longer one: all connections of the process can wait for a connection to the
        // server, for as long as `PostgresConnection.executeFirst` permits.
        var retries = PostgresRetries(waitMilliseconds: pool.hasPooler ? 2 * waitMilliseconds : waitMilliseconds)
        let deadline = retries.deadline
        return try retries.run { () throws -> R in
            do { return try attempt(body, deadline: deadline) } catch let undone as Undone {
                if undone.remedy == .connectAnew { pool.closeIdle() }
                // The rejected decision may depend on cached data.
                if undone.remedy == .lookAgain { pool.connecting.epochs.forget() }
                throw undone
            }
        }
    }

    private func attempt<R>(_ body: (PostgresConnection) throws -> R, deadline: UInt64) throws -> R {
        let owned: UnsafeTransfer<PostgresConnection>
        do { owned = try pool.take(deadline: deadline) } catch let failure as PostgresFailure {
            // The server was reachable when the store was opened, so it may be restarting.
            if case .unreachable = failure.error { throw Undone(.repeatSoon, failure.error) }
            throw Undone(failure)
        }
        defer { pool.giveBack(owned) }
        let connection = owned.value
        var result: R?
        do {
            result = try body(connection)
            let hasWritten = connection.transaction.hasWritten
            try connection.commit(mark: "\(connectionId)#\(lastMark.wrappingAdd(1, ordering: .relaxed).newValue)")
            if hasWritten { counters.add(writes: 1) }
        } catch let doubt as CommitInDoubt {
            connection.close()
            pool.closeIdle()
            guard try wasKept(doubt) else { throw Undone(.connectAnew, .busy) }
            connection.epochs.forget()
            counters.add(writes: 1)
        } catch {
            let failure = connection.failure
            connection.abandon()
            if let failure { throw Undone(failure) }
            if error is SerializationConflict { throw Undone(.lookAgain, .busy) }
            throw (error as? PostgresFailure)?.error ?? error
        }
        return result!
    }

    /// Determines over a separate connection whether a commit was kept that the server did not confirm.
    ///
    /// - Throws: `StoreError.outcomeUnknown` if the server does not become reachable in time.
    private func wasKept(_ doubt: CommitInDoubt) throws -> Bool {
        var retries = PostgresRetries(waitMilliseconds: max(waitMilliseconds, 1_000))
        while true {
            do {
                let connection = try pool.connecting.connect(name: "")
                defer { connection.close() }
                return try CommitMarker.wasKept(doubt.mark, askingOver: connection)
            } catch {
                guard retries.pause() else { throw StoreError.outcomeUnknown }
            }
        }
    }

    // MARK: Store information

    public func tryToWrite() throws { try writeNothing() }

    public var beginning: StoreBeginning { versions.found > 0 ? .existing : .created }

    public func facts() throws -> StoreFacts {
        let (commits, writes) = counters.current
        let bytes = try read { tx in try tx.queryOne("SELECT pg_database_size(current_database())") { $0.int(0) } }
        return StoreFacts(
            kind: .postgres, path: address.description, schemaVersion: versions.now, foundSchemaVersion: versions.found, bytes: bytes ?? 0,
            freeBytes: 0, logBytes: 0,
            journalMode: nil, commits: commits, writes: writes)
    }
}
