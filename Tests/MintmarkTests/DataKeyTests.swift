import Crypto
import Platform
import Storage
import Testing

@testable import Mintmark
@testable import ServiceContext

@Suite("the data key of a store")
struct DataKeyTests {
    private func newStore(isTesting: Bool, under master: MasterKey) throws -> [UInt8] {
        let database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        defer { database.close() }
        return try DataKey.open(in: database, isTesting: isTesting, random: SystemRandom(), now: 1_700_000_000) { _ in master }.copy()
    }

    @Test("a new store gets a new random data key, except a testing store, which derives it from the master key")
    func fresh() throws {
        let master = MasterKey.ofMemory
        let testing = try (0..<2).map { _ in try newStore(isTesting: true, under: master) }
        let real = try (0..<2).map { _ in try newStore(isTesting: false, under: master) }
        #expect(testing[0] == testing[1])
        #expect(Set([testing[0]] + real).count == 3)
    }
}
