import Glibc
import Storage
import Testing

@Suite("Disk errors")
struct DiskTests {
    private let path = TemporaryFolder.shared.path(uniqueName())

    @Test("writes above the file size limit fail, and acknowledged writes are preserved")
    func sizeLimit() throws {
        let probe = try Program.probe("fill", path, "400000")
        let lines = probe.lines(2)
        #expect(lines.first == "full")
        let counts = lines.last?.split(separator: " ").compactMap { Int64($0) } ?? []
        #expect(counts.count == 2 && counts[0] > 10 && counts[0] == counts[1])
        let database = try SQLiteDatabase(.file(path), migrations: [Migration(version: 1, statements: [])], connectionId: uniqueName())
        #expect(try database.count() == counts.last)
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, value) VALUES ($1, 0)", "with room again") }
    }

    @Test("on a full disk, uncommitted writes fail, and writes succeed again when space is available")
    func fullDisk() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        mkdir(folder, 0o700)
        guard mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0 else { return }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        let database = try SQLiteDatabase(.file("\(folder)/store.db"), migrations: testSchema, connectionId: uniqueName())
        let kept = Kept()
        try together(16) { thread in
            for number in 0..<200 {
                let name = "\(thread) \(number) " + String(repeating: "x", count: 1000)
                do {
                    try database.insert(name)
                    kept.add(name)
                } catch StoreError.full { kept.refuse() }
            }
        }
        #expect(kept.refused > 0)
        #expect(try database.count() == kept.names.count)
        for name in kept.names { #expect(try database.has(name)) }
        #expect(mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT), "size=16m") == 0)
        try database.insert("with room again")
        #expect(try database.damage() == [])
        database.close()
    }

    @Test("a body that catches the error of a full disk still fails")
    func hiddenError() throws {
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        try database.insert("a")
        // The page limit applies to the writing connection, which is accessible only in a write.
        try database.write { tx in _ = try tx.queryOne("PRAGMA max_page_count = 12") { $0.int(0) } }
        #expect(throws: StoreError.full) {
            try database.write { tx in
                try tx.execute("INSERT INTO item (id) VALUES ($1)", "lost")
                _ = try? tx.execute("INSERT INTO item (id, data) VALUES ($1, $2)", "big", [UInt8](repeating: 1, count: 1 << 20))
            }
        }
        #expect(try database.count() == 1)
        try database.insert("b")
    }

    @Test("a store on a read-only disk can be read, and writes fail with the reason")
    func readOnly() throws {
        let folder = "\(TemporaryFolder.shared.path)/\(uniqueName())"
        mkdir(folder, 0o700)
        guard mount("tmpfs", folder, "tmpfs", 0, "size=4m") == 0 else { return }
        defer { umount2(folder, Int32(MNT_DETACH)) }
        let file = SQLiteDatabase.Location.file("\(folder)/store.db")
        let first = try SQLiteDatabase(file, migrations: testSchema, connectionId: uniqueName())
        try first.insert("a")
        first.close()
        #expect(mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "") == 0)
        #expect { try SQLiteDatabase(file, migrations: testSchema, connectionId: uniqueName()).insert("b") } throws: {
            if case StoreError.readOnly(let reason) = $0 { !reason.isEmpty } else { false }
        }
        #expect { try SQLiteDatabase(.file("\(folder)/new.db"), migrations: testSchema, connectionId: uniqueName()) } throws: {
            if case StoreError.readOnly(let reason) = $0 { reason.contains("new.db") } else { false }
        }
    }
}
