import Crypto
import Foundation
import Storage
import Testing

@testable import Mintmark

@Suite("a new store in a file begins with the initial content")
final class NewStoreFileTests {
    private let folder = NSTemporaryDirectory() + "mintmark-new-" + SystemRandom().uuid()
    private var path: String { folder + "/store.db" }

    init() { mkdir(folder, 0o700) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func open(_ image: StoreImage? = Schema.image, migrates: Bool = true) throws -> SQLiteDatabase {
        try Self.open(path, image, migrates: migrates)
    }

    private static func open(_ path: String, _ image: StoreImage? = Schema.image, migrates: Bool = true) throws -> SQLiteDatabase {
        try SQLiteDatabase(
            .file(path), migrations: Schema.migrations, image: image, options: OpeningOptions(migrates: migrates),
            connectionId: SystemRandom().uuid())
    }

    private func tables(_ database: SQLiteDatabase) throws -> [String] {
        try StoreHandle(database, StoreAccess(.allowed)).read { tx in
            try tx.query("SELECT name || ' ' || IFNULL(sql, '') FROM sqlite_schema ORDER BY name") { $0.string(0) }
                + tx.query("SELECT name || ' = ' || value FROM mintmark_meta ORDER BY name") { $0.string(0) }
                + tx.query("SELECT application_id || ' ' || page_size FROM pragma_application_id(), pragma_page_size()") { $0.string(0) }
        }
    }

    @Test("its content, mode and log are those of a store that the migrations have made", arguments: [true, false])
    func sameContent(_ migrates: Bool) throws {
        let before = umask(0)
        defer { umask(before) }
        let database = try open(migrates: migrates)
        let facts = try database.facts()
        #expect(facts.foundSchemaVersion == 0 && facts.schemaVersion == Mintmark.schemaVersion)
        #expect(facts.journalMode == "wal")
        // The tables are in the file, not in its log: the file was complete when it got its name.
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 > 100_000)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["store.db", "store.db-shm", "store.db-wal"])
        #expect(try database.damage() == [])
        let found = try tables(database)
        database.close()
        try FileManager.default.removeItem(atPath: path)
        #expect(try tables(open(nil)) == found)
    }

    @Test("an image of another version is not used")
    func otherVersion() throws {
        let database = try open(StoreImage(version: Mintmark.schemaVersion - 1, parts: "no image"))
        #expect(try database.facts().schemaVersion == Mintmark.schemaVersion)
    }

    @Test("threads that create it at the same time create it once")
    func race() async throws {
        let path = path
        for _ in 0..<20 {
            let created = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let database = try Self.open(path)
                        try database.write(StoreAccess(.allowed), isolation: .readCommitted) { try $0.advanceEpoch() }
                        defer { database.close() }
                        return try database.facts().foundSchemaVersion == 0 ? 1 : 0
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(created == 1)
            let database = try open()
            #expect(try database.read(StoreAccess(.allowed)) { try $0.epoch } == 7)
            #expect(try database.damage() == [])
            database.close()
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("a disk that is too small is full, and one that is read-only is read-only")
    func smallDisk() throws {
        guard mount("tmpfs", folder, "tmpfs", 0, "size=256k") == 0 else { return }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        #expect(throws: StoreError.full) { try self.open() }
        #expect(mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT), "size=16m") == 0)
        #expect(try open().facts().schemaVersion == Mintmark.schemaVersion)
        unlink(path)
        #expect(mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "") == 0)
        #expect(throws: StoreError.readOnly(reason: "\(path) cannot be created: Read-only file system")) { try self.open() }
    }
}
