import Storage
import Testing

@Suite("Migrations of a PostgreSQL store, one version at a time")
struct PostgresMigrationTests {
    private static let steps = [
        Migration(version: 1, statements: ["CREATE TABLE one (id TEXT PRIMARY KEY)"]),
        Migration(version: 2, statements: ["CREATE TABLE two (id TEXT PRIMARY KEY)", "INSERT INTO two (id) VALUES ('first')"]),
        Migration(version: 3, statements: ["ALTER TABLE one ADD COLUMN note TEXT"]),
        Migration(version: 4, statements: ["CREATE TABLE four (id TEXT PRIMARY KEY)"]),
    ]

    private let address: PostgresAddress

    init() throws { address = try PostgresServer.shared.newDatabase() }

    @discardableResult
    private func open(_ steps: some Collection<Migration>, migrates: Bool = true) throws -> PostgresDatabase {
        try PostgresDatabase(
            address, migrations: Array(steps), options: OpeningOptions(migrates: migrates), connectionId: uniqueName())
    }

    @Test("only missing migrations are run")
    func missing() throws {
        try open(Self.steps.prefix(1)).close()
        let database = try open(Self.steps.prefix(3))
        try database.write { tx in _ = try tx.execute("INSERT INTO one (id, note) VALUES ($1, $2)", "a", "b") }
        let facts = try database.facts()
        #expect(facts.kind == .postgres && facts.path == address.description && facts.schemaVersion == 3 && facts.bytes > 1_000_000)
        #expect(try open(Self.steps.prefix(3)).read { tx in try tx.queryOne("SELECT COUNT(*) FROM two") { $0.int(0) } } == 1)
    }

    @Test("a program accepts a store of its own schema version or the next one, and rejects later versions")
    func newer() throws {
        try open(Self.steps).close()
        #expect(try open(Self.steps.prefix(3)).facts().schemaVersion == 4)
        #expect(throws: StoreError.tooNew(found: 4, supported: 2)) { try open(Self.steps.prefix(2)) }
    }

    @Test("a failed migration rolls back all migrations of the run")
    func failing() throws {
        try open(Self.steps.prefix(1)).close()
        let broken = Migration(version: 3, statements: ["CREATE TABLE three (id TEXT)", "INSERT INTO nowhere VALUES (1)"])
        #expect(throws: StoreError.self) { try open(Self.steps.prefix(2) + [broken]) }
        let database = try open(Self.steps.prefix(1))
        #expect(try database.facts().schemaVersion == 1)
        #expect(throws: StoreError.self) { try database.read { tx in try tx.query("SELECT id FROM two") { $0.string(0) } } }
    }

    @Test("with migrations disabled, opening an old store fails and a new store is created")
    func notNow() throws {
        try open(Self.steps.prefix(1), migrates: false).close()
        #expect(throws: StoreError.tooOld(found: 1, needed: 2)) { try open(Self.steps.prefix(2), migrates: false) }
    }

    @Test("threads that open a store at the same time migrate it once")
    func race() throws {
        try together(8) { _ in
            let database = try open(Self.steps)
            try database.write { tx in _ = try tx.execute("INSERT INTO four (id) VALUES ($1)", uniqueName()) }
        }
        let database = try open(Self.steps)
        #expect(try database.read { tx in try tx.queryOne("SELECT COUNT(*) FROM two") { $0.int(0) } } == 1)
        #expect(try database.read { tx in try tx.queryOne("SELECT COUNT(*) FROM four") { $0.int(0) } } == 8)
    }

    @Test("text is ordered by its bytes, whatever the locale of the database")
    func byteOrder() throws {
        try PostgresServer.shared.administer(
            "CREATE DATABASE icu LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0")
        let database = try PostgresDatabase(
            PostgresServer.shared.address(of: "icu"), migrations: testSchema, connectionId: uniqueName())
        for name in ["b", "B", "a", "é", "Z"] { try database.insert(name) }
        let ordered = try database.read { tx in try tx.query("SELECT id FROM item WHERE id > 'A' ORDER BY id") { $0.string(0) } }
        #expect(ordered == ["B", "Z", "a", "b", "é"])
    }

    @Test("a database with foreign tables is not a store, and a missing database is reported with its name")
    func foreign() throws {
        try PostgresServer.shared.administer("CREATE TABLE theirs (x INT)", in: name)
        #expect(throws: StoreError.notAStore(path: address.description)) { try open(Self.steps) }
        let nowhere = PostgresServer.shared.address(of: "nowhere")
        let missing = StoreError.cannotOpen(
            path: nowhere.description, reason: #"database "nowhere" does not exist; create the database first (createdb)"#)
        #expect(throws: missing) { try PostgresDatabase(nowhere, migrations: testSchema, connectionId: uniqueName()) }
    }

    private var name: String { String(address.description.split(separator: "/")[2].prefix { $0 != "?" }) }
}
