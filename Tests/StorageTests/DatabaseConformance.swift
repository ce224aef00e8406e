import Foundation
import Platform
import Testing

@testable import Storage

/// A store for one test: in memory, or a file in a folder that goes away.
enum TestStore: String, CaseIterable, CustomTestStringConvertible {
    case memory, file
    var testDescription: String { rawValue }

    static let migrations = [
        Migration(
            version: 1,
            statements: [
                "CREATE TABLE item (name TEXT PRIMARY KEY, amount BIGINT NOT NULL, note TEXT, data BYTEA, good BOOLEAN)",
                "CREATE TABLE part (id TEXT PRIMARY KEY, item TEXT NOT NULL REFERENCES item (name) ON DELETE CASCADE)",
            ])
    ]

    func open(_ path: String = NSTemporaryDirectory() + "mintmark-\(UUID().uuidString)/deep/store.db") throws -> SQLiteDatabase {
        try SQLiteDatabase(self == .memory ? .memory : .file(path), migrations: Self.migrations, connectionId: UUID().uuidString)
    }
}

extension Transaction {
    func put(_ name: String, _ amount: Int) throws {
        try execute(
            "INSERT INTO item (name, amount) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET amount = excluded.amount", name, amount)
    }

    func amount(_ name: String) throws -> Int64? { try queryOne("SELECT amount FROM item WHERE name = $1", name) { $0.int(0) } }

    func total() throws -> Int64 { try queryOne("SELECT COUNT(*) FROM item") { $0.int(0) } ?? 0 }
}

/// What every driver must do.
@Suite("the database")
struct DatabaseConformance {
    struct Refused: Error, Equatable {}

    @Test("every kind of value comes back as it went in", arguments: TestStore.allCases)
    func values(kind: TestStore) throws {
        let database = try kind.open()
        let text = "a\u{0}b é 😀 ' \" ; --"
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        try database.write { tx in
            try tx.execute(
                "INSERT INTO item (name, amount, note, data, good) VALUES ($1, $2, $3, $4, $5)", text, Int64.min, "", bytes, true)
            try tx.execute(
                "INSERT INTO item (name, amount, note, data, good) VALUES ($1, $2, $3, $4, $5)", "", 0, nil as String?, [UInt8](), false)
        }
        let rows = try database.read { tx in
            try tx.query("SELECT name, amount, note, data, good FROM item ORDER BY amount") {
                ($0.string(0), $0.int(1), $0.optionalString(2), $0.bytes(3), $0.bool(4))
            }
        }
        #expect(rows.count == 2)
        #expect(rows[0].0.utf8.elementsEqual(text.utf8) && rows[0].1 == .min && rows[0].2 == "" && rows[0].3 == bytes && rows[0].4)
        #expect(rows[1].0 == "" && rows[1].2 == nil && rows[1].3 == [] && !rows[1].4)
    }

    @Test("a body that throws leaves nothing behind, and the next one works", arguments: TestStore.allCases)
    func rollback(kind: TestStore) throws {
        let database = try kind.open()
        #expect(throws: Refused()) {
            try database.write { tx in
                try tx.put("lost", 1)
                throw Refused()
            }
        }
        try database.write { try $0.put("kept", 2) }
        #expect(try database.read { [try $0.amount("lost"), try $0.amount("kept")] } == [nil, 2])
    }

    @Test("many writers share commits, and one that fails hurts itself alone", arguments: TestStore.allCases)
    func grouping(kind: TestStore) throws {
        let database = try kind.open()
        let outcome = Gate((done: 0, refused: 0))
        for thread in 0..<32 {
            Thread.start(name: "writer") {
                for index in 0..<50 {
                    do {
                        try database.write { tx in
                            try tx.put("\(thread).\(index)", index)
                            if index % 10 == 9 { throw Refused() }
                        }
                    } catch { outcome.withLock { $0.refused += 1 } }
                }
                outcome.withLock { $0.done += 1 }
                outcome.broadcast()
            }
        }
        #expect(outcome.wait { $0.done == 32 ? $0.refused : nil } == 32 * 5)
        #expect(try database.read { try $0.total() } == 32 * 45)
        let facts = try database.facts()
        #expect(facts.writes == 1600)
        #expect(facts.commits < 1600)
    }

    @Test("one read sees one state, whatever is written meanwhile")
    func snapshot() throws {
        let database = try TestStore.file.open()
        try database.write { try $0.put("a", 1) }
        let (before, after) = try database.read { tx in
            let before = try tx.amount("a")
            try together(1) { _ in try database.write { try $0.put("a", 2) } }
            return (before, try tx.amount("a"))
        }
        #expect(before == 1 && after == 1)
        #expect(try database.read { try $0.amount("a") } == 2)
    }

    @Test("the epoch moves only when it is advanced, and another connection sees it", arguments: TestStore.allCases)
    func epoch(kind: TestStore) throws {
        let database = try kind.open()
        let first = try database.read { try $0.epoch }
        try database.write { try $0.put("a", 1) }
        #expect(try database.read { try $0.epoch } == first)
        try database.write { try $0.advanceEpoch() }
        #expect(try database.read { try $0.epoch } == first + 1)
        #expect(throws: Refused()) {
            try database.write { tx in
                try tx.advanceEpoch()
                throw Refused()
            }
        }
        #expect(try database.read { try $0.epoch } == first + 1)
        #expect(try database.write { try $0.epoch } == first + 1)
    }

    @Test("without patience a write is refused at once and nothing is changed", arguments: TestStore.allCases)
    func patience(kind: TestStore) throws {
        let database = try kind.open()
        #expect(throws: WouldWait.self) { try Patience.with(.none) { try database.write { try $0.put("a", 1) } } }
        #expect(try Patience.with(.none) { try database.read { try $0.amount("a") } } == nil)
        #expect(Patience.current == .full)
    }

    @Test("foreign keys cascade", arguments: TestStore.allCases)
    func cascade(kind: TestStore) throws {
        let database = try kind.open()
        try database.write { tx in
            try tx.put("a", 1)
            try tx.execute("INSERT INTO part (id, item) VALUES ($1, $2)", "p", "a")
            try tx.execute("DELETE FROM item WHERE name = $1", "a")
        }
        #expect(try database.read { try $0.queryOne("SELECT COUNT(*) FROM part") { $0.int(0) } } == 0)
    }
}
