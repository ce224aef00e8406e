import Crypto
import Storage
import Testing

@testable import Mintmark
@testable import ServiceContext

@Suite("the random source of a testing store")
struct StoreRandomTests {
    /// A store with its random source, optionally seeded.
    private struct Store {
        let database: SQLiteDatabase
        let random: SeededRandomGenerator

        init(_ seed: String? = nil) throws {
            database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
            random = SeededRandomGenerator(database, otherwise: SystemRandom())
            if let seed { try self.seed(seed) }
        }

        func seed(_ seed: String) throws { try database.write { try $0.setSeed(seed) } }
    }

    @Test("without a seed, the source is the system's and its draws have no number")
    func unseeded() throws {
        let random = try Store().random
        #expect(random.draw(16).number == nil)
        #expect(random.bytes(16) != random.bytes(16))
    }

    @Test("the same seed yields the same sequence for all users of the store, without repetition")
    func seeded() throws {
        let (one, other) = (try Store("seven"), try Store("seven"))
        let elsewhere = SeededRandomGenerator(other.database, otherwise: SystemRandom())
        let draws = (0..<50).map { _ in one.random.bytes(16) }
        #expect(draws == (0..<50).map { $0 % 2 == 0 ? other.random.bytes(16) : elsewhere.bytes(16) })
        #expect(Set(draws).count == 50)
        #expect(try Store("eight").random.bytes(16) != draws[0])
        #expect(one.random.draw(4).number == 50)
        // Setting the same seed again continues its sequence. Another seed starts a new sequence.
        try one.seed("seven")
        #expect(!draws.contains(one.random.bytes(16)))
        try one.seed("eight")
        #expect(try one.random.bytes(16) == Store("eight").random.bytes(16))
    }

    @Test("a seed reproduces codes, UUIDs and EdDSA and ES256 keys; time-ordered UUIDs stay ordered by position")
    func values() throws {
        func all() throws -> [String] {
            let random = try Store("seven").random
            return [
                random.uuid(), random.decimalDigits(8), random.uuid(at: 1_700_000_000, position: 0),
                random.uuid(at: 1_700_000_000, position: 77), try PrivateKey.generate(.EdDSA, from: random).keyID,
                try PrivateKey.generate(.ES256, from: random).keyID,
            ]
        }
        let (one, other) = (try all(), try all())
        #expect(one == other)
        #expect(one[2] < one[3])
        #expect(try PrivateKey.generate(.EdDSA, from: SystemRandom()).keyID != one[4])
    }

    @Test("inside a transaction of its store, the source is the system's")
    func inside() throws {
        let store = try Store("seven")
        #expect(try store.database.write { _ in store.random.draw(4).number } == nil)
        #expect(store.random.draw(4).number == 0)
    }
}

@Suite("tables of the schema")
struct SchemaTableTests {
    @Test("the list of tables matches the schema")
    func names() throws {
        let database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        let counted = try database.read { try $0.rowCounts() }
        #expect(Set(Schema.tables).union(["mintmark_meta"]) == Set(counted.keys))
    }

    @Test("emptying removes the rows of the given tables only")
    func emptied() throws {
        let database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        let left = try database.write { tx in
            try tx.setStoreFact("a", "b")
            try tx.empty(Schema.tables)
            return try tx.rowCounts()
        }
        #expect(left["store_fact"] == 0 && (left["mintmark_meta"] ?? 0) > 0)
    }
}
