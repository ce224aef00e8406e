import Storage
import Testing

@Suite("Atomicity and isolation of transactions")
struct TransactionTests {
    @Test("committed changes are visible to later reads", arguments: Backend.all)
    func writeThenRead(_ backend: Backend) throws {
        let database = try backend.open()
        #expect(try database.write { tx in try tx.execute("INSERT INTO item (id, number) VALUES ($1, $2)", "a", 7) } == 1)
        #expect(try database.read { tx in try tx.queryOne("SELECT number FROM item WHERE id = $1", "a") { $0.int(0) } } == 7)
    }

    @Test("row counts of all tables include the changes of the current transaction", arguments: Backend.all)
    func counted(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        let counts = try database.write { tx in
            try tx.execute("INSERT INTO item (id) VALUES ($1)", "b")
            return try tx.rowCounts()
        }
        #expect(counts["item"] == 2 && counts["part"] == 0 && counts["mintmark_meta"] == 2)
    }

    @Test("a write whose body throws is rolled back and rethrows the error", arguments: Backend.all)
    func undone(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("kept")
        #expect(throws: Refused.self) {
            try database.write { tx in
                try tx.execute("INSERT INTO item (id) VALUES ($1)", "undone")
                try tx.execute("DELETE FROM item WHERE id = $1", "kept")
                throw Refused()
            }
        }
        #expect(try database.has("kept"))
        #expect(try !database.has("undone"))
        try database.insert("undone")
    }

    @Test("a rejected statement rolls back its transaction", arguments: Backend.all)
    func constraint(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        #expect(throws: StoreError.self) {
            try database.write { tx in
                try tx.execute("INSERT INTO item (id) VALUES ($1)", "b")
                try tx.execute("INSERT INTO item (id) VALUES ($1)", "a")
            }
        }
        #expect(try database.count() == 1)
    }

    @Test("a read sees one snapshot, even if other transactions commit during it", arguments: Backend.all)
    func snapshot(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        let hasRead = Signal()
        let mayWrite = Signal()
        try together(2) { thread in
            if thread == 0 {
                mayWrite.wait()
                try database.insert("b")
                hasRead.send()
            } else {
                try database.read { tx in
                    let before = try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) }
                    mayWrite.send()
                    // The write finishes during this read, except in memory, where it waits for the read.
                    if !backend.testDescription.contains("memory") { #expect(hasRead.wait(seconds: 20)) }
                    #expect(try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) } == before)
                }
            }
        }
        #expect(try database.count() == 2)
    }

    @Test("a read transaction cannot write", arguments: Backend.all)
    func readOnly(_ backend: Backend) throws {
        let database = try backend.open()
        #expect(throws: StoreError.self) { try database.read { tx in try tx.execute("INSERT INTO item (id) VALUES ($1)", "a") } }
        #expect(try database.count() == 0)
    }

    @Test("a transaction inside another one of the same store fails instead of deadlocking", arguments: Backend.all)
    func nested(_ backend: Backend) throws {
        let database = try backend.open()
        let nested = StoreError.failed(reason: "a transaction was started inside another transaction of the same store")
        #expect(throws: nested) { try database.read { _ in try database.read { _ in } } }
        #expect(throws: nested) { try database.read { _ in try database.write { _ in } } }
        #expect(throws: nested) { try database.write { _ in try database.read { _ in } } }
        #expect(throws: nested) { try database.write { _ in try database.write { _ in } } }
        let other = try backend.open()
        #expect(try database.read { _ in try other.count() } == 0)
        #expect(throws: nested) { try database.read { _ in try other.read { _ in try database.read { _ in } } } }
        #expect(throws: nested) { try database.write { _ in try other.write { _ in try database.write { _ in } } } }
        #expect(try database.count() == 0)
    }

    @Test("a transaction that is used after its end fails", arguments: Backend.all)
    func escaped(_ backend: Backend) throws {
        let database = try backend.open()
        for escaped in [try database.read { $0 }, try database.write { $0 }] {
            #expect(throws: StoreError.failed(reason: "a transaction was used after its end")) { try escaped.execute("DELETE FROM item") }
        }
    }

    @Test("a write transaction has the ID of its connection, and a read transaction has an empty ID", arguments: Backend.all)
    func names(_ backend: Backend) throws {
        let database = try backend.open()
        let first = try database.write { $0.connectionId }
        #expect(!first.isEmpty)
        #expect(try database.write { $0.connectionId } == first)
        #expect(try database.read { $0.connectionId } == "")
        #expect(try backend.open().write { $0.connectionId } != first)
    }

    @Test("changes in one store do not affect another", arguments: Backend.all)
    func separate(_ backend: Backend) throws {
        let (one, other) = (try backend.open(), try backend.open())
        try one.insert("a")
        #expect(try other.count() == 0)
    }

    @Test("a closed store rejects reads and writes", arguments: Backend.all)
    func closed(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        database.close()
        #expect(throws: StoreError.closed) { try database.insert("b") }
        #expect(throws: StoreError.closed) { try database.count() }
        database.close()
    }
}
