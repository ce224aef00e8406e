import Storage
import Synchronization
import Testing

@Suite("Decisions made in a read and repeated in the write")
struct DecideTests {
    enum Choice: Decision {
        case keep(Int64)
        case create

        var writes: Bool { if case .create = self { true } else { false } }
    }

    private func numberOfAlice(_ database: any Database, creating number: Int, onDeciding: () -> Void = {}) throws -> Int64 {
        try database.decide(
            reading: { tx in try tx.queryOne("SELECT number FROM item WHERE id = $1", "alice") { $0.int(0) } },
            deciding: { found in
                onDeciding()
                return found.map(Choice.keep) ?? .create
            },
            keeping: { choice in if case .keep(let number) = choice { number } else { -1 } },
            writing: { tx, _ in
                try tx.execute("INSERT INTO item (id, number) VALUES ($1, $2)", "alice", number)
                return Int64(number)
            })
    }

    @Test("a decision that only reads starts no write transaction", arguments: Backend.all)
    func onlyReads(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("alice", 7)
        let before = try database.facts().writes
        #expect(try numberOfAlice(database, creating: 8) == 7)
        #expect(try database.facts().writes == before)
    }

    @Test("a decision is repeated if the data changed before the write", arguments: Backend.all)
    func overtaken(_ backend: Backend) throws {
        let database = try backend.open()
        let decisions = Atomic<Int>(0)
        let number = try numberOfAlice(database, creating: 8) {
            // Another thread inserts the row between the first decision and the write.
            if decisions.wrappingAdd(1, ordering: .relaxed).newValue == 1 { try? database.insert("alice", 7) }
        }
        #expect(number == 7)
        #expect(decisions.load(ordering: .relaxed) == 2)
    }

    @Test("of many concurrent decisions, one creates the row and all return the same result", arguments: Backend.all)
    func race(_ backend: Backend) throws {
        let database = try backend.open()
        let numbers = Mutex<Set<Int64>>([])
        try together(32) { thread in
            let number = try numberOfAlice(database, creating: 100 + thread)
            _ = numbers.withLock { $0.insert(number) }
        }
        #expect(numbers.withLock { $0.count } == 1)
        #expect(try database.count() == 1)
    }
}
