import Glibc
import Storage
import Testing

@Suite("Opening and creating a store")
struct OpeningTests {
    private let path = TemporaryFolder.shared.path(uniqueName())

    @discardableResult
    private func open(_ migrations: [Migration] = testSchema, migrates: Bool = true) throws -> SQLiteDatabase {
        try SQLiteDatabase(
            .file(path), migrations: migrations, options: OpeningOptions(migrates: migrates, waitMilliseconds: 200),
            connectionId: uniqueName())
    }

    private func put(_ bytes: [UInt8]) {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = write(file, bytes, bytes.count)
        Glibc.close(file)
    }

    private func shell(_ statements: String) throws {
        let shell = try Program.shell(path)
        try shell.say(statements)
        try shell.finish()
    }

    @Test("the files of a store and its created directories are accessible only to the current user, whatever the umask")
    func modes() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        let path = "\(folder)/deep/store.db"
        let before = umask(0)
        defer { umask(before) }
        let database = try SQLiteDatabase(
            .file(path), migrations: testSchema, options: OpeningOptions(makesFolders: true), connectionId: uniqueName())
        try database.insert("a")
        for file in [path, path + "-wal", path + "-shm"] { #expect(mode(of: file) == 0o600, "\(file)") }
        for made in [folder, "\(folder)/deep"] { #expect(mode(of: made) == 0o700, "\(made)") }
    }

    @Test("a missing directory is created only on request")
    func noFolder() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        #expect(
            throws: StoreError.cannotOpen(path: "\(folder)/store.db", reason: "the directory \(folder) does not exist; create it first")
        ) {
            try SQLiteDatabase(.file("\(folder)/store.db"), migrations: testSchema, connectionId: uniqueName())
        }
        #expect(mode(of: folder) == nil)
    }

    @Test("data is preserved after closing and reopening, and closing leaves only the database file")
    func again() throws {
        let first = try open()
        try first.insert("a")
        first.close()
        #expect(mode(of: path + "-wal") == nil)
        #expect(try open().has("a"))
    }

    @Test("an empty file becomes a store")
    func empty() throws {
        put([])
        #expect(try open().count() == 0)
    }

    @Test("a file that is not a database is rejected and left unchanged", arguments: ["hello, world\n", "x", "noise"])
    func noDatabase(_ kind: String) throws {
        let content = kind == "noise" ? (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ 7) } : Array(kind.utf8)
        put(content)
        #expect(throws: StoreError.notAStore(path: path)) { try open() }
        #expect(StoreFileContent.read(path) == String(content.hashValue), "the file was changed")
    }

    @Test("a database of another application is rejected and left unchanged")
    func foreign() throws {
        try shell("CREATE TABLE bookmarks (url TEXT);")
        let before = StoreFileContent.read(path)
        #expect(throws: StoreError.notAStore(path: path)) { try open() }
        #expect(StoreFileContent.read(path) == before)
    }

    @Test("a database with the application ID of another application is rejected, even without tables")
    func foreignMark() throws {
        try shell("PRAGMA application_id = 4711;")
        #expect(throws: StoreError.notAStore(path: path)) { try open() }
    }

    @Test("a directory, a named pipe and a broken symbolic link cannot be opened")
    func otherThings() throws {
        mkdir(path, 0o700)
        #expect(throws: StoreError.cannotOpen(path: path, reason: "it is a directory")) { try open() }
        rmdir(path)
        mkfifo(path, 0o600)
        #expect(throws: StoreError.cannotOpen(path: path, reason: "it is not a regular file")) { try open() }
        unlink(path)
        symlink("/nowhere/at/all", path)
        #expect(throws: StoreError.cannotOpen(path: path, reason: "it is a broken symbolic link")) { try open() }
    }

    @Test("a path that looks like a URI is used as a path")
    func noURI() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())?mode=memory&x=%41"
        let database = try SQLiteDatabase(
            .file("\(folder)/file:a.db"), migrations: testSchema, options: OpeningOptions(makesFolders: true), connectionId: uniqueName())
        try database.insert("a")
        #expect(mode(of: "\(folder)/file:a.db") == 0o600)
    }

    @Test("overwritten pages are reported as corrupt when they are read, and by the check for damage")
    func damaged() throws {
        let database = try open()
        try database.write { tx in
            for number in 0..<2_000 { try tx.execute("INSERT INTO item (id, note) VALUES ($1, $2)", "row \(number)", "some text") }
        }
        #expect(try database.damage() == [])
        database.close()
        let file = Glibc.open(path, O_WRONLY)
        let noise = [UInt8](repeating: 0xA5, count: 4096)
        for page in 8..<20 { pwrite(file, noise, noise.count, off_t(page * 4096)) }
        Glibc.close(file)
        let again = try open()
        #expect { try again.read { tx in try tx.query("SELECT id, note FROM item ORDER BY id") { $0.string(0) } } } throws: {
            if case StoreError.corrupt = $0 { true } else { false }
        }
        #expect(try again.damage() != [])
    }

    @Test("a store without its metadata table is corrupt")
    func withoutMeta() throws {
        try open().close()
        try shell("DROP TABLE mintmark_meta;")
        #expect(throws: StoreError.corrupt(reason: "the store's schema version is missing")) { try open() }
    }
}

/// A hash of the contents of a file. Read it only while no store has the file open.
enum StoreFileContent {
    static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - max(0, Glibc.read(file, &bytes, bytes.count)))
        return String(bytes.hashValue)
    }
}
