import Storage
import Synchronization
import Testing

@Suite("Migrations of a SQLite store, one version at a time")
struct MigrationTests {
    private static let steps = [
        Migration(version: 1, statements: ["CREATE TABLE one (id TEXT PRIMARY KEY)"]),
        Migration(version: 2, statements: ["CREATE TABLE two (id TEXT PRIMARY KEY)", "INSERT INTO two (id) VALUES ('first')"]),
        Migration(version: 3, statements: ["ALTER TABLE one ADD COLUMN note TEXT"]),
        Migration(version: 4, statements: ["CREATE TABLE four (id TEXT PRIMARY KEY)"]),
    ]

    private let path = TemporaryFolder.shared.path(uniqueName())

    @discardableResult
    private func open(upTo version: Int, migrates: Bool = true) throws -> SQLiteDatabase {
        let steps = Array(Self.steps.prefix(version))
        return try SQLiteDatabase(.file(path), migrations: steps, options: OpeningOptions(migrates: migrates), connectionId: uniqueName())
    }

    @Test("only missing migrations are run")
    func missing() throws {
        try open(upTo: 1).close()
        let database = try open(upTo: 3)
        try database.write { tx in _ = try tx.execute("INSERT INTO one (id, note) VALUES ($1, $2)", "a", "b") }
        #expect(try database.facts().schemaVersion == 3)
        #expect(try open(upTo: 3).read { tx in try tx.queryOne("SELECT COUNT(*) FROM two") { $0.int(0) } } == 1)
    }

    @Test("a program accepts a store of its own schema version or the next one, and rejects later versions")
    func newer() throws {
        try open(upTo: 4).close()
        #expect(try open(upTo: 3).facts().schemaVersion == 4)
        #expect(throws: StoreError.tooNew(found: 4, supported: 2)) { try open(upTo: 2) }
    }

    @Test("a failed migration rolls back all migrations of the run")
    func failing() throws {
        try open(upTo: 1).close()
        let broken =
            Self.steps.prefix(2) + [Migration(version: 3, statements: ["CREATE TABLE three (id TEXT)", "INSERT INTO nowhere VALUES (1)"])]
        #expect(throws: StoreError.self) {
            try SQLiteDatabase(.file(path), migrations: Array(broken), connectionId: uniqueName())
        }
        let database = try open(upTo: 1)
        #expect(try database.facts().schemaVersion == 1)
        #expect(throws: StoreError.self) { try database.read { tx in try tx.query("SELECT id FROM two") { $0.string(0) } } }
    }

    @Test("with migrations disabled, opening an old store fails and a new store is created")
    func notNow() throws {
        try open(upTo: 1, migrates: false).close()
        #expect(throws: StoreError.tooOld(found: 1, needed: 2)) { try open(upTo: 2, migrates: false) }
    }

    @Test("threads that open a store at the same time migrate it once")
    func race() throws {
        let path = path
        for round in 0..<10 {
            try together(8) { _ in
                let database = try SQLiteDatabase(.file("\(path).\(round)"), migrations: Self.steps, connectionId: uniqueName())
                try database.write { tx in _ = try tx.execute("INSERT INTO four (id) VALUES ($1)", uniqueName()) }
            }
            let database = try SQLiteDatabase(.file("\(path).\(round)"), migrations: Self.steps, connectionId: uniqueName())
            #expect(try database.read { tx in try tx.queryOne("SELECT COUNT(*) FROM two") { $0.int(0) } } == 1)
            #expect(try database.read { tx in try tx.queryOne("SELECT COUNT(*) FROM four") { $0.int(0) } } == 8)
        }
    }

    @Test("facts contain the schema version found when the store was opened")
    func found() throws {
        #expect(try open(upTo: 1).facts().foundSchemaVersion == 0)
        let later = try open(upTo: 2).facts()
        #expect(later.foundSchemaVersion == 1 && later.schemaVersion == 2)
        #expect(try open(upTo: 2).facts().foundSchemaVersion == 2)
    }

    @Test("facts describe the store")
    func facts() throws {
        let database = try open(upTo: 2)
        try database.write { tx in _ = try tx.execute("INSERT INTO one (id) VALUES ($1)", "a") }
        let facts = try database.facts()
        #expect(facts.kind == .sqlite && facts.path == path && facts.schemaVersion == 2 && facts.journalMode == "wal")
        #expect(facts.bytes >= 4096 && facts.logBytes > 0 && facts.freeBytes >= 0)
        #expect(facts.commits == 1 && facts.writes == 1)
        let memory = try Backend.memory.open().facts()
        #expect(memory.kind == .memory && memory.path == nil && memory.bytes > 0)
    }
}
