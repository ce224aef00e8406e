import Platform

/// A store in a SQLite file, which several processes may share, or in memory.
///
/// On disk, readers never wait for a writer. A write returns when it is synced; writes that wait at the same moment share one sync.
public final class SQLiteDatabase: Database {
    /// Where the store is.
    public enum Location: Sendable, Hashable {
        /// In this process, gone with it; each store is one of its own.
        case memory
        /// A file, made if it is not there.
        case file(String)
    }

    private let location: Location
    private let absolutePath: String
    /// The file that was opened, nil in memory.
    private let identity: StoreFile.Identity?
    private let versions: SchemaVersions
    private let readers: SQLiteReaders
    private let writer: SQLiteWriter
    private let counters = WriteCounters()

    /// Opens a store and brings its schema up to date; makes it if it is not there. Its files are for this user alone.
    ///
    /// - Parameters:
    ///   - migrations: every step of the schema, in order.
    ///   - migrates: whether steps that are missing may be run.
    ///   - makesStore: whether a store is made where there is none; otherwise that is `StoreError.cannotOpen`.
    ///   - makesFolders: whether the folders of a file are made where they are missing.
    ///   - connectionId: a name for the writing connection that no other has, such as a UUID.
    ///   - waitMilliseconds: how long a lock of another process is waited for before `StoreError.busy`.
    /// - Throws: `StoreError`.
    public init(
        _ location: Location, migrations: [Migration], migrates: Bool = true, makesStore: Bool = true, makesFolders: Bool = false,
        connectionId: String,
        waitMilliseconds: Int32 = 5_000
    ) throws {
        self.location = location
        let path: String
        /// SQLite's own locks know no waiting in memory.
        let memoryLock: ReaderWriterLock?
        switch location {
        case .memory:
            path = "file:/mintmark-\(connectionId)?vfs=memdb"
            memoryLock = ReaderWriterLock()
        case .file(let given):
            path = SQLiteOpening.absolute(given)
            try StoreFile.prepare(path, makesFile: makesStore, makesFolders: makesFolders)
            memoryLock = nil
        }
        absolutePath = path
        identity = location == .memory ? nil : StoreFile.Identity(of: path)
        let isURI = location == .memory
        let connection = try SQLiteConnection(path: path, isURI: isURI, role: .writer(id: connectionId), waitMilliseconds: waitMilliseconds)
        versions = try SQLiteOpening.prepare(
            connection, isFile: !isURI, path: path, migrations: migrations, migrates: migrates, makesStore: makesStore,
            deadline: Monotonic.nanoseconds() + UInt64(waitMilliseconds) * 1_000_000)
        writer = SQLiteWriter(connection, counters: counters, memoryLock: memoryLock)
        readers = SQLiteReaders(memoryLock: memoryLock) { patient in
            let reader = try SQLiteConnection(path: path, isURI: isURI, role: .reader, waitMilliseconds: waitMilliseconds)
            reader.setPatient(patient)
            try SQLiteOpening.configure(reader)
            return Owned(reader)
        }
    }

    deinit {
        readers.close()
        writer.stop()
    }

    public func read<R>(_ body: (Transaction) throws -> R) throws -> R {
        let patient = Patience.current != .none
        let outer = try Nesting.enter(writer)
        defer { Nesting.leave(to: outer) }
        return try readers.read(patient: patient, body)
    }

    public func write<R>(isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        guard Patience.current != .none else { throw WouldWait(isWrite: true) }
        // A memory store's writer would wait for this thread's own view, and what is read after the write must show it.
        SharedReads.current?.end()
        // The writer thread could not serve a write that it is itself waiting for.
        Nesting.leave(to: try Nesting.enter(writer))
        var result: R?
        // What checks that nobody keeps the closure has the length of this file's path in it, also where the function ends, and so would
        // have `!`: every checkout would build another program. So the rest of the function gets a name of its own.
        #sourceLocation(file:"SQLiteDatabase.write",line:1)
        try withoutActuallyEscaping(body) { body in try writer.run(WriteJob { result = try body($0) }) }
        guard let result else { preconditionFailure("a write that was run has a result") }
        return result
    }
    #sourceLocation()

    public func close() {
        readers.close()
        writer.stop()
        writer.waitUntilStopped()
    }

    /// Hands over one moment of the store, from what is read first on.
    func withOneView<R>(_ body: (SQLiteView) throws -> R) throws -> R {
        guard Patience.current != .none else { throw WouldWait() }
        let view = try readers.begin(patient: true)
        defer { view.abandon() }
        return try body(view)
    }

    // MARK: The store itself

    public func tryToWrite() throws {
        if case .file(let path) = location, StoreFile.Identity(of: absolutePath) != identity {
            throw StoreError.cannotOpen(
                path: path,
                reason: "the file was removed or replaced while this process had it open, and new data is lost; restart the process"
            )
        }
        try writeNothing()
    }

    public func facts() throws -> StoreFacts {
        let (commits, writes) = counters.current
        let pages = try read { tx in
            try tx.queryOne(
                """
                SELECT page_count, page_size, freelist_count, journal_mode
                FROM pragma_page_count(), pragma_page_size(), pragma_freelist_count(), pragma_journal_mode()
                """
            ) { (count: $0.int(0), size: $0.int(1), free: $0.int(2), journalMode: $0.string(3)) }
        }
        let path: String? = if case .file(let path) = location { path } else { nil }
        return StoreFacts(
            kind: path == nil ? .memory : .sqlite, path: path, schemaVersion: versions.now, foundSchemaVersion: versions.found,
            bytes: (pages?.count ?? 0) * (pages?.size ?? 0),
            freeBytes: (pages?.free ?? 0) * (pages?.size ?? 0), logBytes: path.map { StoreFile.size(of: $0 + "-wal") } ?? 0,
            journalMode: pages?.journalMode, commits: commits, writes: writes)
    }

    /// What SQLite finds wrong with the file, nothing if all is well. Reads every page.
    ///
    /// - Throws: `StoreError`.
    public func damage() throws -> [String] {
        do {
            return try read { tx in try tx.query("PRAGMA quick_check(20)") { $0.string(0) } }.filter { $0 != "ok" }
        } catch StoreError.corrupt(let reason) {
            // Some damage keeps SQLite from even looking further.
            return [reason]
        }
    }
}
