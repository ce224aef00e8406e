import Glibc
import Storage
import Testing

@Suite("Copies of a store")
struct CopyTests {
    private let path = TemporaryFolder.shared.path(uniqueName())
    private let target = TemporaryFolder.shared.path(uniqueName())

    private func count(_ tx: Transaction) throws -> Int64 { try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) } ?? 0 }

    @Test("a copy is a consistent snapshot, even during writes")
    func oneMoment() throws {
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        for number in 0..<200 { try database.insert("before \(number)" + String(repeating: "x", count: 2_000)) }
        try together(5) { thread in
            if thread == 0 {
                let copy = try database.copy(to: target, suffix: uniqueName(), isCancelled: { false }, noting: count)
                let there = try SQLiteDatabase(.file(target), migrations: testSchema, connectionId: uniqueName())
                #expect(try Int64(there.count()) == copy?.note && there.damage().isEmpty)
                // Each write inserts an item together with its part.
                #expect(
                    try there.read { tx in try tx.queryOne("SELECT COUNT(*) FROM part") { $0.int(0) } } == copy.map { $0.note - 200 })
                return
            }
            for number in 0..<200 {
                try database.write { tx in
                    _ = try tx.execute("INSERT INTO item (id, number) VALUES ($1, 0)", "\(thread) \(number)")
                    _ = try tx.execute("INSERT INTO part (id, item_id) VALUES ($1, $1)", "\(thread) \(number)")
                }
            }
        }
        #expect(mode(of: target) == 0o600)
    }

    @Test("a copy of a store in memory is a store in a file")
    func memory() throws {
        let database = try SQLiteDatabase(.memory, migrations: testSchema, connectionId: uniqueName())
        try database.insert("a")
        let copy = try database.copy(to: target, suffix: "s", isCancelled: { false }, noting: count)
        #expect(copy?.note == 1 && copy?.path == target)
        let there = try SQLiteDatabase(
            .file(target), migrations: testSchema, options: OpeningOptions(migrates: false), connectionId: uniqueName())
        #expect(try there.has("a"))
        try there.insert("b")
        #expect(try there.facts().journalMode == "wal")
    }

    @Test("a copy never overwrites an existing file, directory or broken symbolic link")
    func neverOver() throws {
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        symlink("/nowhere/at/all", target)
        for taken in [target, path, TemporaryFolder.shared.path] {
            #expect(throws: StoreCopyFailure.exists(path: taken)) {
                try database.copy(to: taken, suffix: "s", isCancelled: { false }, noting: count)
            }
        }
    }

    @Test("an incomplete copy leaves no file: after cancellation, without a directory, on a full disk")
    func unfinished() throws {
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        for number in 0..<1_500 { try database.insert("\(number)" + String(repeating: "x", count: 8_000)) }
        #expect(try database.copy(to: target, suffix: "s", isCancelled: { true }, noting: count) == nil)
        #expect(throws: StoreCopyFailure.self) {
            try database.copy(to: "/nowhere/a.db", suffix: "s", isCancelled: { false }, noting: count)
        }
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        mkdir(folder, 0o700)
        if mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0 {
            defer { umount2(folder, Int32(MNT_DETACH)) }
            #expect(throws: StoreCopyFailure.self) {
                try database.copy(to: "\(folder)/a.db", suffix: "s", isCancelled: { false }, noting: count)
            }
            #expect(mode(of: "\(folder)/a.db") == nil && mode(of: "\(folder)/a.db.s.part") == nil)
        }
        #expect(mode(of: target) == nil && mode(of: "\(target).s.part") == nil)
        try database.insert("goes on")
    }
}
