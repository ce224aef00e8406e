import CSQLite
import Foundation
import Testing

@testable import Storage

@Suite("a store in a file")
struct SQLiteFileTests {
    let folder = NSTemporaryDirectory() + "mintmark-\(UUID().uuidString)"
    var path: String { folder + "/store.db" }

    /// Runs SQL with a connection of nobody's.
    private func meddle(_ sql: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(path, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
    }

    @Test("files and folders are for the owner alone")
    func modes() throws {
        let database = try TestStore.file.open(path)
        try database.write { try $0.put("a", 1) }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
    }

    @Test("what was written is there after reopening, and two openers share it")
    func reopening() throws {
        let first = try TestStore.file.open(path)
        try first.write { try $0.put("a", 1) }
        let second = try TestStore.file.open(path)
        #expect(try second.read { try $0.amount("a") } == 1)
        try second.write { try $0.put("a", 2) }
        #expect(try first.read { try $0.amount("a") } == 2)
        #expect(try first.damage().isEmpty)
    }

    @Test("a schema one version ahead is accepted, two are not")
    func newer() throws {
        _ = try TestStore.file.open(path)
        try meddle("UPDATE mintmark_meta SET value = 2 WHERE name = 'schema_version'")
        #expect(try TestStore.file.open(path).facts().schemaVersion == 2)
        try meddle("UPDATE mintmark_meta SET value = 3 WHERE name = 'schema_version'")
        #expect(throws: StoreError.tooNew(found: 3, supported: 1)) { try TestStore.file.open(path) }
    }

    @Test("an older schema is brought up to date, or refused where that is not wanted")
    func older() throws {
        _ = try TestStore.file.open(path)
        let next = TestStore.migrations + [Migration(version: 2, statements: ["ALTER TABLE item ADD COLUMN extra TEXT"])]
        #expect(throws: StoreError.tooOld(found: 1, needed: 2)) {
            try SQLiteDatabase(.file(path), migrations: next, migrates: false, connectionId: "x")
        }
        #expect(try SQLiteDatabase(.file(path), migrations: next, connectionId: "x").facts().schemaVersion == 2)
    }

    @Test("what is no store of ours is refused and left as it is", arguments: ["short", String(repeating: "no database ", count: 1000)])
    func foreign(content: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try content.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: StoreError.notAStore(path: path)) { try TestStore.file.open(path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }

    @Test("another program's database is refused")
    func anothersDatabase() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try meddle("CREATE TABLE theirs (x)")
        #expect(throws: StoreError.notAStore(path: path)) { try TestStore.file.open(path) }
    }

    @Test("a folder in the file's place says so")
    func folderInPlace() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(throws: StoreError.cannotOpen(path: path, reason: "it is a folder")) { try TestStore.file.open(path) }
    }

    @Test("memory stores are apart from each other")
    func memories() throws {
        let (a, b) = (try TestStore.memory.open(), try TestStore.memory.open())
        try a.write { try $0.put("a", 1) }
        #expect(try b.read { try $0.amount("a") } == nil)
    }
}
