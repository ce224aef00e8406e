import Storage
import Testing

@Suite("Cached prepared statements")
struct StatementTests {
    private let path = TemporaryFolder.shared.path(uniqueName())

    @Test("a cached statement is prepared again after a schema change by another process")
    func schemaChange() throws {
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        try database.insert("a", 1)
        let columns = { try database.read { tx in try tx.query("SELECT * FROM item WHERE id = $1", "a") { $0.isNull(1) } } }
        #expect(try columns() == [false])
        let shell = try Program.shell(path)
        try shell.say("ALTER TABLE item RENAME COLUMN number TO amount; ALTER TABLE item ADD COLUMN more TEXT;")
        try shell.finish()
        #expect(try columns() == [false])
        #expect(throws: StoreError.self) { try database.insert("b", 2) }
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, amount, more) VALUES ($1, $2, $3)", "b", 2, "m") }
        #expect(try database.count() == 2)
    }

    @Test("values of any length are bound completely, in one statement, one after the other and again")
    func lengths() throws {
        let database = try Backend.memory.open()
        let lengths = [0, 1, 255, 256, 257, 600, 20_000, 3]
        for _ in 0..<3 {
            let texts = lengths.enumerated().map { String(repeating: "\($0)", count: $1) }
            let found = try database.read { tx in
                try tx.query(
                    "SELECT $1 || '/' || $2 || '/' || $3 || '/' || $4 || '/' || $5 || '/' || $6 || '/' || $7 || '/' || $8", texts[0],
                    texts[1],
                    texts[2], texts[3], texts[4], texts[5], texts[6], texts[7]
                ) { $0.string(0) }
            }
            #expect(found == [texts.joined(separator: "/")])
        }
    }

    @Test("a statement can be run again while its rows are being read")
    func again() throws {
        let database = try Backend.memory.open()
        for name in ["a", "b", "c"] { try database.insert(name) }
        func names(_ tx: Transaction, _ depth: Int) throws -> [String] {
            try tx.query("SELECT id FROM item ORDER BY id") { row in
                row.string(0) + (depth == 0 ? "" : try names(tx, depth - 1).joined())
            }
        }
        #expect(try database.read { try names($0, 1) } == ["aabc", "babc", "cabc"])
    }

    @Test("a statement remains usable after an error while reading its rows")
    func errorInRow() throws {
        let database = try Backend.memory.open()
        for name in ["a", "b"] { try database.insert(name) }
        for _ in 0..<3 {
            #expect(throws: Refused.self) {
                try database.read { tx in _ = try tx.query("SELECT id FROM item ORDER BY id") { _ in throw Refused() } }
            }
            #expect(try database.count() == 2)
        }
    }

    @Test("text with NUL characters is preserved")
    func nul() throws {
        let database = try Backend.memory.open()
        let text = "a\0b\0"
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, note) VALUES ($1, $2)", text, text) }
        let note = try database.read { tx in try tx.queryOne("SELECT note FROM item WHERE id = $1", text) { $0.string(0) } }
        #expect(note == text)
    }

    @Test("parameters must be numbered from $1 without gaps")
    func gap() throws {
        let database = try Backend.memory.open()
        #expect(throws: StoreError.self) { try database.read { tx in try tx.queryOne("SELECT $1, $3", 1, 3) { $0.int(0) } } }
        #expect(throws: StoreError.self) { try database.read { tx in try tx.queryOne("SELECT ?", 1) { $0.int(0) } } }
    }

    @Test("each error has a distinct description")
    func sentences() {
        let all: [StoreError] = [
            .busy, .readOnly(reason: "r"), .full, .corrupt(reason: "r"), .tooNew(found: 9, supported: 1), .tooOld(found: 1, needed: 2),
            .notAStore(path: "/p"), .cannotOpen(path: "/p", reason: "r"), .unreachable(path: "/p", reason: "r"), .outcomeUnknown,
            .failed(reason: "r"), .closed,
        ]
        #expect(Set(all.map(\.description)).count == all.count)
        #expect(all.allSatisfy { $0.description.count > 15 })
        #expect(StoreError.tooNew(found: 9, supported: 1).description.contains("9"))
    }
}
