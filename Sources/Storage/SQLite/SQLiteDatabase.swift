import Platform

/// A store in a SQLite file, which several processes can share, or in memory.
///
/// On disk, readers never wait for a writer. A write returns when it is synced; writes that wait at the same time share one sync.
public final class SQLiteDatabase: Database {
    /// The location of the store.
    public enum Location: Sendable, Hashable {
        /// In the memory of this process. Each store is separate and is lost when the process exits.
        case memory
        /// A file, which is created if it does not exist.
        case file(String)
    }

    private let location: Location
    private let absolutePath: String
    /// The identity of the file that was opened, or `nil` in memory.
    private let identity: StoreFile.Identity?
    /// The reason the file was opened for reading only, or `nil` if it was opened for reading and writing.
    public let readOnlyReason: String?
    public let beginning: StoreBeginning
    private let versions: SchemaVersions
    private let readers: SQLiteReaders
    private let writer: SQLiteWriter
    private let running = ThreadsInTransaction()
    private let counters = WriteCounters()

    /// Opens a store and migrates its schema. Creates the store if it does not exist. Only the current user can access its files.
    ///
    /// - Parameters:
    ///   - migrations: All steps of the schema, in order.
    ///   - image: An empty store after these migrations, from which a new store starts.
    ///   - connectionId: A unique name for the writing connection, such as a UUID.
    /// - Throws: `StoreError`.
    public init(
        _ location: Location, migrations: [Migration], image: StoreImage? = nil, options: OpeningOptions = OpeningOptions(),
        connectionId: String
    ) throws {
        self.location = location
        let image = image?.version == migrations.last?.version ? image : nil
        let path: String
        let origin: StoreFile.Origin
        let readOnly: ReadOnlyFile?
        /// The locks of SQLite do not support waiting in memory.
        let memoryLock: ReaderWriterLock?
        switch location {
        case .memory:
            path = "file:/mintmark-\(connectionId)?vfs=memdb"
            memoryLock = ReaderWriterLock()
            origin = image == nil ? .made : .image
            readOnly = nil
        case .file(let given):
            path = SQLiteOpening.absolute(given)
            origin = try StoreFile.prepare(
                path,
                StoreFile.Making(makesFile: options.makesStore, makesFolders: options.makesFolders, image: image, id: connectionId))
            memoryLock = nil
            readOnly = options.readsOnly ? ReadOnlyFile(path) : nil
        }
        absolutePath = path
        identity = location == .memory ? nil : StoreFile.Identity(of: path)
        readOnlyReason = readOnly?.reason
        let isURI = location == .memory || readOnly != nil
        let name = readOnly?.uri ?? path
        let waitMilliseconds = options.waitMilliseconds
        let connection = try SQLiteConnection(path: name, isURI: isURI, role: .writer(id: connectionId), waitMilliseconds: waitMilliseconds)
        if location == .memory, let image {
            try image.load(into: connection)
            try SQLiteOpening.configure(connection)
            versions = SchemaVersions(found: 0, now: image.version)
        } else {
            let found = try SQLiteOpening.prepare(connection, usesLog: !isURI, path: path, migrations: migrations, options: options)
            versions = origin == .image ? SchemaVersions(found: 0, now: found.now) : found
        }
        beginning = versions.found > 0 ? .existing : origin == .emptyFile ? .createdInEmptyFile : .created
        writer = SQLiteWriter(connection, counters: counters, memoryLock: memoryLock, running: running)
        readers = SQLiteReaders(memoryLock: memoryLock) {
            let reader = try SQLiteConnection(path: name, isURI: isURI, role: .reader, waitMilliseconds: waitMilliseconds)
            try SQLiteOpening.configure(reader)
            return UnsafeTransfer(reader)
        }
    }

    deinit {
        readers.close()
        writer.stop()
    }

    public func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R {
        try running.enter()
        defer { running.leave() }
        return try readers.read(access, body)
    }

    public func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        // A write from the body of another transaction would wait for that transaction.
        try running.requireNone()
        // Reads after the write must see its changes.
        access.view?.end()
        var result: R?
        // The check for an escaped closure embeds the length of this file's path, also at the end of the function, as `!` would. The
        // program would then differ for every checkout directory. Therefore the rest of the function has an artificial file name.
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

    /// Calls `body` with a view of the store, which is fixed by the first read.
    func withOneView<R>(_ body: (SQLiteView) throws -> R) throws -> R {
        let view = try readers.begin()
        defer { view.abandon() }
        return try body(view)
    }

    // MARK: Store information

    public func tryToWrite() throws {
        if let readOnlyReason { throw StoreError.readOnly(reason: readOnlyReason) }
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

    /// Returns the content of a store in memory as a file.
    ///
    /// - Throws: `StoreError`.
    package func serialized() throws -> [UInt8] { try withOneView { $0.connection.serialized() } }

    /// Returns the problems that SQLite finds in the file, one line each. Empty if there are none. Reads every page.
    ///
    /// - Throws: `StoreError`.
    public func damage() throws -> [String] {
        do {
            // SQLite puts several problems into one row, below the name of the database.
            return try read { tx in try tx.query("PRAGMA quick_check(20)") { $0.string(0) } }
                .flatMap { $0.split(separator: "\n").map(String.init) }
                .filter { $0 != "ok" && !$0.hasPrefix("*** in database") }
        } catch StoreError.corrupt(let reason) {
            // Some damage prevents SQLite from continuing the check.
            return [reason]
        }
    }
}
