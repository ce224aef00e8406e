import Glibc
import Storage
import Testing

@Suite("Opening makes a store, or says why not")
struct OpeningTests {
    private let path = TemporaryFolder.shared.path(uniqueName())

    @discardableResult
    private func open(_ migrations: [Migration] = testSchema, migrates: Bool = true) throws -> SQLiteDatabase {
        try SQLiteDatabase(.file(path), migrations: migrations, migrates: migrates, connectionId: uniqueName(), waitMilliseconds: 200)
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

    @Test("its files are for this user alone, whatever the umask, and so are folders that are made")
    func modes() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        let path = "\(folder)/deep/store.db"
        let before = umask(0)
        defer { umask(before) }
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, makesFolders: true, connectionId: uniqueName())
        try database.insert("a")
        for file in [path, path + "-wal", path + "-shm"] { #expect(mode(of: file) == 0o600, "\(file)") }
        for made in [folder, "\(folder)/deep"] { #expect(mode(of: made) == 0o700, "\(made)") }
    }

    @Test("a folder that is missing may be a mistake: it is made only where that is said")
    func noFolder() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        #expect(
            throws: StoreError.cannotOpen(path: "\(folder)/store.db", reason: "the directory \(folder) does not exist; create it first")
        ) {
            try SQLiteDatabase(.file("\(folder)/store.db"), migrations: testSchema, connectionId: uniqueName())
        }
        #expect(mode(of: folder) == nil)
    }

    @Test("what was written is there after opening again, and closing leaves one file")
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

    @Test("text, noise and one byte are no store and stay as they are", arguments: ["hello, world\n", "x", "noise"])
    func noDatabase(_ kind: String) throws {
        let content = kind == "noise" ? (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ 7) } : Array(kind.utf8)
        put(content)
        #expect(throws: StoreError.notAStore(path: path)) { try open() }
        #expect(StoreFileContent.read(path) == String(content.hashValue), "the file was changed")
    }

    @Test("another application's database is no store and stays as it is")
    func foreign() throws {
        try shell("CREATE TABLE bookmarks (url TEXT);")
        let before = StoreFileContent.read(path)
        #expect(throws: StoreError.notAStore(path: path)) { try open() }
        #expect(StoreFileContent.read(path) == before)
    }

    @Test("a database that carries another application's mark is no store, even without tables")
    func foreignMark() throws {
        try shell("PRAGMA application_id = 4711;")
        #expect(throws: StoreError.notAStore(path: path)) { try open() }
    }

    @Test("a folder, a pipe and a link to nowhere cannot be opened")
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

    @Test("a path that looks like a URI is a path")
    func noURI() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())?mode=memory&x=%41"
        let database = try SQLiteDatabase(
            .file("\(folder)/file:a.db"), migrations: testSchema, makesFolders: true, connectionId: uniqueName())
        try database.insert("a")
        #expect(mode(of: "\(folder)/file:a.db") == 0o600)
    }

    @Test("pages that were overwritten are found when they are met, and by looking for damage")
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

    @Test("a store whose own table is gone is corrupt")
    func withoutMeta() throws {
        try open().close()
        try shell("DROP TABLE mintmark_meta;")
        #expect(throws: StoreError.corrupt(reason: "the store's schema version is missing")) { try open() }
    }
}

/// A mark of a file's bytes, read only while no store has it open.
enum StoreFileContent {
    static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - max(0, Glibc.read(file, &bytes, bytes.count)))
        return String(bytes.hashValue)
    }
}
