import Platform
import Storage
import Synchronization
import Testing

@Suite("Concurrent writes in PostgreSQL")
struct IsolationTests {
    /// Inserts a row if the table is empty. Only the isolation level prevents concurrent transactions from inserting
    /// a second row.
    private func addTheOnlyOne(_ tx: Transaction, _ id: String, meeting: () -> Void = {}) throws -> Bool {
        guard try tx.queryOne("SELECT COUNT(*) FROM item", row: { $0.int(0) }) == 0 else { return false }
        meeting()
        try tx.execute("INSERT INTO item (id) VALUES ($1)", id)
        return true
    }

    @Test("serializable writes that read each other's changes have the result of a serial execution")
    func serializable() throws {
        let database = try Backend.postgres.open()
        let added = Atomic<Int>(0)
        try together(4) { thread in
            for _ in 0..<3 {
                let isMine = try database.write(isolation: .serializable) { try addTheOnlyOne($0, "\(thread)") }
                if isMine { added.wrappingAdd(1, ordering: .relaxed) }
            }
        }
        #expect(added.load(ordering: .relaxed) == 1)
        #expect(try database.count() == 1)
    }

    @Test("the body is run again after a serialization failure")
    func again() throws {
        let database = try Backend.postgres.open()
        let runs = Atomic<Int>(0)
        let met = ConditionLock(0)
        try together(2) { thread in
            _ = try database.write(isolation: .serializable) { tx in
                runs.wrappingAdd(1, ordering: .relaxed)
                return try addTheOnlyOne(tx, "\(thread)") {
                    met.withLock { $0 += 1 }
                    met.broadcast()
                    _ = met.wait(deadline: Monotonic.nanoseconds() + 10_000_000_000) { $0 >= 2 ? () : nil }
                }
            }
        }
        #expect(runs.load(ordering: .relaxed) == 3)
        #expect(try database.count() == 1)
    }

    @Test("a lock on an ID waits for the transaction that holds it and then sees its changes")
    func locks() throws {
        let database = try Backend.postgres.open()
        try together(4) { thread in
            for _ in 0..<10 {
                try database.write { tx in
                    // Locks are acquired in a fixed order, whatever the order of the arguments, so no deadlock
                    // occurs.
                    try tx.lock(thread % 2 == 0 ? ["a", "b", "c"] : ["c", "b", "a", "a"])
                    let count = try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) } ?? 0
                    try tx.execute("INSERT INTO item (id, number) VALUES ($1, $2)", "item \(count)", count)
                }
            }
        }
        #expect(try database.count() == 40)
    }

    @Test("a deadlock between two writes is resolved by running one of them again")
    func deadlock() throws {
        let database = try Backend.postgres.open()
        try database.insert("a")
        try database.insert("b")
        let met = ConditionLock(0)
        try together(2) { thread in
            let rows = thread == 0 ? ["a", "b"] : ["b", "a"]
            try database.write { tx in
                try tx.execute("UPDATE item SET number = number + 1 WHERE id = $1", rows[0])
                met.withLock { $0 += 1 }
                met.broadcast()
                _ = met.wait(deadline: Monotonic.nanoseconds() + 10_000_000_000) { $0 >= 2 ? () : nil }
                try tx.execute("UPDATE item SET number = number + 1 WHERE id = $1", rows[1])
            }
        }
        #expect(try database.read { try $0.queryOne("SELECT SUM(number) FROM item") { $0.int(0) } } == 4)
    }

    @Test("a body that reports a serialization conflict is run again, and fails with busy if it always does")
    func overtaken() throws {
        let database = try Backend.postgres.open()
        var runs = 0
        let answer = try database.write { tx in
            runs += 1
            try tx.execute("INSERT INTO item (id) VALUES ($1)", "run \(runs)")
            if runs == 1 { throw SerializationConflict() }
            return runs
        }
        #expect(answer == 2)
        #expect(try !database.has("run 1"))
        #expect(throws: StoreError.busy) { try database.write { _ in throw SerializationConflict() } }
    }

    @Test("an error that the body catches still fails the transaction")
    func hidden() throws {
        let database = try Backend.postgres.open()
        #expect(throws: StoreError.self) {
            try database.write { tx in
                try tx.execute("INSERT INTO item (id) VALUES ($1)", "a")
                _ = try? tx.execute("INSERT INTO nowhere (id) VALUES ($1)", "a")
            }
        }
        #expect(try database.count() == 0)
    }

    @Test("a lock wait that is too long and an exhausted connection pool fail with busy")
    func busy() throws {
        let address = try PostgresServer.shared.newDatabase()
        let database = try PostgresDatabase(
            address, migrations: testSchema, options: OpeningOptions(waitMilliseconds: 300), connectionId: uniqueName(), connections: 2)
        let (isHeld, isDone) = (ConditionLock(0), Signal())
        try together(3) { thread in
            if thread < 2 {
                try database.write { tx in
                    try tx.lock(["\(thread)"])
                    isHeld.withLock { $0 += 1 }
                    isHeld.broadcast()
                    #expect(isDone.wait(seconds: 20))
                }
            } else {
                isHeld.wait { $0 == 2 ? () : nil }
                #expect(throws: StoreError.busy) { try database.count() }
                let other = try PostgresDatabase(
                    address, migrations: testSchema, options: OpeningOptions(waitMilliseconds: 300), connectionId: uniqueName(),
                    connections: 1)
                #expect(throws: StoreError.busy) { try other.write { try $0.lock(["1"]) } }
                try other.write { try $0.lock(["2"]) }
                isDone.send()
            }
        }
    }
}
