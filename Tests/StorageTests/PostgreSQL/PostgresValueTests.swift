import Testing

@testable import Storage

@Suite("Values, addresses and errors of PostgreSQL")
struct PostgresValueTests {
    @Test("text with U+0000 is rejected before it is sent")
    func nul() throws {
        let database = try Backend.postgres.open()
        let refusal = StoreError.failed(reason: "PostgreSQL cannot store text with the character U+0000")
        #expect(throws: refusal) { try database.insert("a\0b") }
        #expect(try database.count() == 0)
    }

    @Test("sums, small integers and NULL are read as numbers", arguments: [0, 1, -1, 9_999, 10_000, -123_456_789, 1 << 40, 99_990_000])
    func numbers(_ number: Int) throws {
        let database = try Backend.postgres.open()
        try database.insert("a", number)
        try database.read { tx in
            let row = try tx.queryOne("SELECT SUM(number), CAST(7 AS SMALLINT), -7, SUM(number) FROM item") {
                ($0.int(0), $0.int(1), $0.int(2), $0.string(3))
            }
            #expect(row?.0 == Int64(number) && row?.1 == 7 && row?.2 == -7 && row?.3 == "\(number)")
            #expect(try tx.queryOne("SELECT SUM(number) FROM item WHERE id = 'nobody'") { $0.optionalInt(0) } == .some(nil))
        }
    }

    @Test("a statement that was first run with NULL accepts a value later")
    func nothingFirst() throws {
        let database = try Backend.postgres.open()
        for note in [nil, "text", nil, ""] {
            try database.write { tx in
                try tx.execute("DELETE FROM item")
                try tx.execute("INSERT INTO item (id, note) VALUES ('a', $1)", note)
            }
            let found = try database.read { tx in
                try tx.queryOne("SELECT note FROM item WHERE CAST($1 AS TEXT) IS NULL OR note = $1", note) { $0.optionalString(0) }
            }
            #expect(found == .some(note))
        }
    }

    @Test("a value with a type other than in the first run is rejected instead of being converted")
    func types() throws {
        let database = try Backend.postgres.open()
        let values: [any SQLValue] = [1, "1", true]
        for (index, value) in values.enumerated() {
            let insert = { try database.write { tx in _ = try tx.execute("INSERT INTO item (id, number) VALUES ('a', $1)", value) } }
            if index == 0 { try insert() } else { #expect(throws: StoreError.self) { try insert() } }
        }
    }

    @Test("an epoch advanced by another store is seen within one second, and by the same store immediately")
    func epoch() throws {
        let address = try PostgresServer.shared.newDatabase()
        let (one, other) = (
            try PostgresDatabase(address, migrations: testSchema, connectionId: uniqueName()),
            try PostgresDatabase(address, migrations: testSchema, connectionId: uniqueName())
        )
        let before = try other.read { try $0.epoch }
        try one.write { try $0.advanceEpoch() }
        #expect(try one.read { try $0.epoch } == before + 1)
        _ = Signal().wait(seconds: 1)
        #expect(try other.read { try $0.epoch } == before + 1)
    }

    @Test(
        "the description of an address contains the server and database, but never the password",
        arguments: [
            ("postgres://me:pw@host:5432/db?sslmode=require&password=pw", "postgres://me@host:5432/db"),
            ("postgresql:///db?host=/run/x&port=5433&user=me", "postgres:///db?host=/run/x&port=5433"),
            ("postgres://me:p@w/x:y@a:1,b:2/db", "postgres://me@a:1,b:2/db"),
            ("postgres://me:pw/db", "postgres://me/db"),
            ("postgres://me@[::1]:5432/db", "postgres://me@[::1]:5432/db"),
            ("postgres://", "postgres://"),
        ])
    func addresses(uri: String, shown: String) throws {
        #expect(PostgresAddress(uri).description == shown)
        #expect(String(reflecting: PostgresAddress(uri)) == shown)
    }

    @Test(
        "server errors are mapped to store errors",
        arguments: [
            ("53100", true, StoreError.full), ("25006", true, .readOnly(reason: "why")), ("53300", false, .busy), ("57P03", false, .busy),
            ("40001", true, .busy), ("55P03", true, .busy), ("57014", true, .busy), ("57P01", true, .busy),
            ("28P01", false, .cannotOpen(path: "postgres://h/d", reason: "why")),
            ("28000", false, .cannotOpen(path: "postgres://h/d", reason: "why")),
            ("", false, .unreachable(path: "postgres://h/d", reason: "why")),
            ("08006", true, .unreachable(path: "postgres://h/d", reason: "why")),
            ("XX001", true, .corrupt(reason: "why (PostgreSQL XX001)")), ("42601", true, .failed(reason: "why (PostgreSQL 42601)")),
        ])
    func failures(state: String, isConnected: Bool, error: StoreError) {
        let address = PostgresAddress("postgres://h/d")
        #expect(PostgresFailure(state: state, reason: "why", isConnected: isConnected, address: address).error == error)
    }

    @Test("the SQLSTATE of a rejected connection is read from messages in any language")
    func refusals() {
        let address = PostgresAddress("postgres://h/d")
        let message = """
            connection to server on socket "/s" failed: FATAL:  53300: Es sind bereits zu viele Clients verbunden
            LOCATION:  InitProcess, proc.c:373

            """
        let failure = PostgresFailure.connecting(message, address)
        #expect(failure.error == .busy && failure.remedy == .repeatSoon)
    }
}
