import Storage
import Testing

@Suite("Cached results of text queries")
struct TextTests {
    private static let note: SQL = "SELECT note FROM item WHERE id = $1"

    private func note(_ id: String, in database: any Database) throws -> String? { try database.read { try $0.text(Self.note, id) } }

    @Test("the result is the last committed value, however often it was read before", arguments: Backend.all)
    func isCurrent(_ backend: Backend) throws {
        let database = try backend.open()
        #expect(try note("a", in: database) == nil)
        try database.insert("a")
        for step in 0..<50 {
            try database.write { _ = try $0.execute("UPDATE item SET note = $2 WHERE id = $1", "a", "\(step)") }
            for _ in 0..<3 { #expect(try note("a", in: database) == "\(step)") }
        }
        try database.write { _ = try $0.execute("DELETE FROM item WHERE id = $1", "a") }
        #expect(try note("a", in: database) == nil)
    }

    @Test("the result is current on every reading connection", arguments: Backend.all)
    func everywhere(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        for step in 0..<20 {
            try database.write { _ = try $0.execute("UPDATE item SET note = $2 WHERE id = $1", "a", "\(step)") }
            try together(4) { _ in
                let seen = try database.read { tx in try (0..<3).map { _ in try tx.text(Self.note, "a") } }
                #expect(seen == ["\(step)", "\(step)", "\(step)"])
            }
        }
    }

    @Test("a write transaction reads its own changes", arguments: Backend.all)
    func inWrite(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        let seen = try database.write { tx in
            try ["old", "new"].map { note in
                _ = try tx.execute("UPDATE item SET note = $1 WHERE id = 'a'", note)
                return try tx.text(Self.note, "a")
            }
        }
        #expect(seen == ["old", "new"])
    }

    @Test("results are cached per statement and per byte-exact parameter", arguments: Backend.all)
    func questions(_ backend: Backend) throws {
        let database = try backend.open()
        try database.write { tx in
            _ = try tx.execute("INSERT INTO item (id, note) VALUES ($1, 'composed'), ($2, 'decomposed')", "\u{E9}", "e\u{301}")
        }
        for _ in 0..<3 {
            #expect(try note("\u{E9}", in: database) == "composed")
            #expect(try note("e\u{301}", in: database) == "decomposed")
            #expect(try database.read { try $0.text("SELECT id FROM item WHERE id = $1", "\u{E9}") }?.unicodeScalars.count == 1)
        }
    }

    @Test("results remain correct after thousands of other queries", arguments: Backend.embedded)
    func many(_ backend: Backend) throws {
        let database = try backend.open()
        try database.write { tx in
            for id in 0..<5000 { _ = try tx.execute("INSERT INTO item (id, note) VALUES ($1, $1)", "\(id)") }
        }
        for _ in 0..<2 {
            let seen = try database.read { tx in try (0..<5000).map { try tx.text(Self.note, "\($0)") } }
            #expect(seen == (0..<5000).map { "\($0)" })
        }
    }
}
