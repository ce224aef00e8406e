import Storage
import Testing

@Suite("Stored values are read back unchanged")
struct ValueTests {
    static let texts = ["", "plain", "Zoë 👩‍👩‍👧 \u{FEFF}", "'; DROP TABLE item; --", String(repeating: "long ", count: 100_000)]

    @Test("text is preserved", arguments: Backend.all, texts)
    func text(_ backend: Backend, _ text: String) throws {
        let database = try backend.open()
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, note) VALUES ($1, $2)", "a", text) }
        let note = try database.read { tx in try tx.queryOne("SELECT note FROM item") { $0.optionalString(0) } }
        #expect(note == .some(text))
    }

    @Test("integers are preserved", arguments: Backend.all, [0, -1, Int64.max, Int64.min])
    func integers(_ backend: Backend, _ integer: Int64) throws {
        let database = try backend.open()
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, number) VALUES ($1, $2)", "a", integer) }
        #expect(try database.read { tx in try tx.queryOne("SELECT number FROM item") { $0.int(0) } } == integer)
    }

    @Test("Boolean values are preserved", arguments: Backend.all, [true, false])
    func truth(_ backend: Backend, _ flag: Bool) throws {
        let database = try backend.open()
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, flag) VALUES ($1, $2)", "a", flag) }
        #expect(try database.read { tx in try tx.queryOne("SELECT flag FROM item") { $0.bool(0) } } == flag)
    }

    @Test("bytes are preserved", arguments: Backend.all, [0, 1, 3 << 20])
    func bytes(_ backend: Backend, _ count: Int) throws {
        let database = try backend.open()
        let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, data) VALUES ($1, $2)", "a", data) }
        #expect(try database.read { tx in try tx.queryOne("SELECT data FROM item") { $0.optionalBytes(0) } } == .some(data))
    }

    @Test("NULL is distinct from the empty text and from zero", arguments: Backend.all)
    func nothing(_ backend: Backend) throws {
        let database = try backend.open()
        try database.write { tx in
            _ = try tx.execute(
                "INSERT INTO item (id, number, note, data) VALUES ($1, $2, $3, $4)", "a", Int64?.none, String?.none, [UInt8]?.none)
        }
        try database.read { tx in
            let row = try tx.queryOne("SELECT number, note, data FROM item") {
                ($0.optionalInt(0), $0.optionalString(1), $0.optionalBytes(2), $0.isNull(0))
            }
            #expect(row?.0 == nil && row?.1 == nil && row?.2 == nil && row?.3 == true)
        }
    }

    @Test("a parameter can occur several times and in any order", arguments: Backend.all)
    func places(_ backend: Backend) throws {
        let database = try backend.open()
        try database.write { tx in _ = try tx.execute("INSERT INTO item (note, id, number) VALUES ($2, $1, $3)", "a", "b", 3) }
        let found = try database.read { tx in
            try tx.query("SELECT id, note FROM item WHERE number = $2 AND (id = $1 OR note = $1)", "b", 3) { $0.string(0) + $0.string(1) }
        }
        #expect(found == ["ab"])
    }

    @Test("a statement can have more than sixteen parameters", arguments: Backend.all)
    func manyParameters(_ backend: Backend) throws {
        let database = try backend.open()
        let sum = try database.read { tx in
            try tx.queryOne(
                "SELECT $1+$2+$3+$4+$5+$6+$7+$8+$9+$10+$11+$12+$13+$14+$15+$16+$17+$18",
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
            ) { $0.int(0) }
        }
        #expect(sum == 171)
    }

    @Test("a statement with too few or too many values fails", arguments: Backend.all)
    func wrongCount(_ backend: Backend) throws {
        let database = try backend.open()
        #expect(throws: StoreError.self) {
            try database.read { tx in try tx.queryOne("SELECT id FROM item WHERE id = $1") { $0.string(0) } }
        }
        #expect(throws: StoreError.self) {
            try database.read { tx in try tx.queryOne("SELECT id FROM item WHERE id = $1", "a", "b") { $0.string(0) } }
        }
    }

    @Test("the collation C orders text by its bytes", arguments: Backend.all)
    func collation(_ backend: Backend) throws {
        let database = try backend.open()
        let names = ["b", "B", "a", "é", "Z", "aa", "😀", "ﬀ", ""]
        for name in names { try database.insert(name) }
        let ordered = try database.read { tx in try tx.query("SELECT id FROM item ORDER BY id COLLATE \"C\"") { $0.string(0) } }
        #expect(ordered == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    @Test("execute returns the number of changed rows, and a RETURNING clause returns rows", arguments: Backend.all)
    func changes(_ backend: Backend) throws {
        let database = try backend.open()
        for name in ["a", "b", "c"] { try database.insert(name, 1) }
        try database.write { tx in
            #expect(try tx.execute("INSERT INTO item (id) VALUES ($1) ON CONFLICT DO NOTHING", "a") == 0)
            #expect(try tx.execute("UPDATE item SET number = 2 WHERE id <> $1", "a") == 2)
            let returned = try tx.queryOne("UPDATE item SET number = 3 WHERE number = 2 RETURNING id") { $0.string(0) }
            #expect(returned != nil)
            #expect(try tx.queryOne("SELECT COUNT(*) FROM item WHERE number = 3") { $0.int(0) } == 2)
        }
    }

    @Test("deleting a row deletes its dependent rows, and a dependent row requires an existing parent", arguments: Backend.all)
    func foreignKeys(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        try database.write { tx in _ = try tx.execute("INSERT INTO part (id, item_id) VALUES ($1, $2)", "p", "a") }
        #expect(throws: StoreError.self) {
            try database.write { tx in _ = try tx.execute("INSERT INTO part (id, item_id) VALUES ($1, $2)", "q", "nobody") }
        }
        try database.write { tx in _ = try tx.execute("DELETE FROM item") }
        #expect(try database.read { tx in try tx.queryOne("SELECT COUNT(*) FROM part") { $0.int(0) } } == 0)
    }
}
