import Contract
import Glibc
import JSON
import Crypto
import Platform
import Storage
import Synchronization
import Testing

@testable import Audit
@testable import Mintmark
@testable import ServiceContext

/// A store in memory with a clock set by the test.
private final class House: Sendable {
    final class HandClock: WallClock {
        private let time = Atomic<Int64>(1_700_000_000)
        var now: Int64 { time.load(ordering: .relaxed) }
        func advance(_ seconds: Int64) { time.wrappingAdd(seconds, ordering: .relaxed) }
    }

    struct Call: CallContext {
        var trace: String? { nil }
        var isCancelled: Bool { false }
        var isPublicCaller: Bool { false }
        func progress(_ value: JSONValue) {}
    }

    let clock = HandClock()
    let context: ServiceContext

    init() throws {
        let database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        context = ServiceContext(
            realm: Deployment(), database: database,
            vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()),
            environment: ServiceEnvironment(clock: clock))
    }

    func record(_ method: String = "pool.create") throws {
        let now = clock.now
        try context.database.write { try context.audit.record(AuditEvent(method: method), at: now, in: $0) }
    }

    func remove(limit: Int, olderThan seconds: Int64) throws -> Int {
        let now = clock.now
        return try context.database.write {
            try AuditRetention(log: context.audit, seconds: seconds).remove(limit: limit, at: now, in: $0)
        }
    }

    func verify(_ heads: [Contract.AuditHead] = []) throws -> Contract.AuditVerify.Result {
        try AuditService(context).verify(.init(heads: heads), Call())
    }

    func numbers() throws -> [Int64] {
        try context.database.read { try $0.query("SELECT number FROM audit ORDER BY number") { $0.int(0) } }
    }

    func execute(_ sql: SQL) throws { try context.database.write { _ = try $0.execute(sql) } }
}

@Suite("retention of audit records")
struct AuditRetentionTests {
    @Test("the oldest records are removed up to the limit, and a checkpoint records the removed part")
    func bounded() throws {
        let house = try House()
        for _ in 0..<7 { try house.record() }
        house.clock.advance(100)
        try house.record()
        #expect(try house.remove(limit: 3, olderThan: 50) == 3)
        #expect(try house.numbers() == [4, 5, 6, 7, 8, 9])
        #expect(try house.remove(limit: 3, olderThan: 50) == 3)
        #expect(try house.remove(limit: 3, olderThan: 50) == 1)
        #expect(try house.remove(limit: 3, olderThan: 50) == 0)
        #expect(try house.numbers() == [8, 9, 10, 11])
        let answer = try house.verify()
        #expect(answer.intact && answer.chains.map(\.removedRecords) == [7])
    }

    @Test("an old record after a newer one is not removed, so a wrong clock removes no recent records")
    func prefix() throws {
        let house = try House()
        try house.record()
        house.clock.advance(1000)
        try house.record()
        house.clock.advance(-1000)
        try house.record()
        house.clock.advance(100)
        #expect(try house.remove(limit: 10, olderThan: 50) == 1)
        #expect(try house.remove(limit: 10, olderThan: 50) == 0)
        #expect(try house.verify().intact)
    }

    @Test("nothing is removed from a chain that was altered")
    func evidence() throws {
        let house = try House()
        for _ in 0..<4 { try house.record() }
        try house.execute("UPDATE audit SET method = 'pool.get' WHERE number = 2")
        house.clock.advance(100)
        #expect(try house.remove(limit: 10, olderThan: 50) == 0)
        #expect(try house.numbers() == [1, 2, 3, 4])
    }

    @Test("a chain without remaining records continues after its last record")
    func goesOn() throws {
        let house = try House()
        for _ in 0..<3 { try house.record() }
        let heads = try house.verify().chains.map { Contract.AuditHead(chain: $0.chain, records: $0.records, head: $0.head) }
        house.clock.advance(100)
        // The checkpoint is the fourth record of the same chain.
        #expect(try house.remove(limit: 10, olderThan: 50) == 3)
        house.clock.advance(100)
        #expect(try house.remove(limit: 10, olderThan: 50) == 1)
        try house.record()
        #expect(try house.numbers() == [5, 6])
        #expect(try house.verify(heads).intact)
        var forged = heads
        forged[0] = .init(chain: heads[0].chain, records: 4, head: heads[0].head)
        #expect(try !house.verify(forged).intact)
    }

    @Test("records removed without a checkpoint are reported as missing, and a checkpoint cannot be forged")
    func cutOff() throws {
        let house = try House()
        for _ in 0..<5 { try house.record() }
        house.clock.advance(100)
        try house.record()
        #expect(try house.remove(limit: 2, olderThan: 50) == 2)
        try house.execute("DELETE FROM audit WHERE number = 3")
        #expect(try house.verify().chains.map(\.problem) == ["record 3 is missing"])
        let third = try house.context.database.read { try $0.query("SELECT details FROM audit WHERE number = 7") { $0.string(0) } }
        #expect(third.first?.contains("\"2.") == true)
        try house.execute("UPDATE audit SET details = replace(details, '\"2.', '\"3.') WHERE number = 7")
        #expect(try !house.verify().intact)
    }
}

@Suite("background maintenance")
struct HousekeepingTests {
    @Test("an interval is due once per period and starts again if the clock was set back")
    func rhythm() {
        var rhythm = Rhythm(seconds: 600)
        let looks: [(Int64, Bool)] = [
            (1000, false), (1599, false), (1600, true), (1601, false), (5000, true), (5599, false), (10, true), (609, false), (610, true),
        ]
        for (moment, isDue) in looks { #expect(rhythm.isDue(at: moment) == isDue, "at \(moment)") }
    }

    /// The reports of the maintenance.
    private final class Seen: Sendable {
        let heads = ConditionLock<[[Contract.AuditHead]]>([])
        let failures = ConditionLock<[String]>([])

        var reports: MaintenanceScheduler.Reports {
            MaintenanceScheduler.Reports(
                heads: { heads, _ in
                    self.heads.withLock { $0.append(heads) }
                    self.heads.broadcast()
                },
                failure: { task, _ in
                    self.failures.withLock { $0.append(task) }
                    self.failures.broadcast()
                })
        }
    }

    private func deadline() -> UInt64 { Monotonic.nanoseconds() + 10_000_000_000 }

    @Test("heads are reported hourly if they changed, and audit.verify accepts them")
    func heads() throws {
        let house = try House()
        let seen = Seen()
        let housekeeping = MaintenanceScheduler(
            house.context, sweeps: ExpiryJob.all(of: house.context, auditRetentionSeconds: nil), reports: seen.reports)
        try house.record()
        house.clock.advance(3600)
        try house.record()
        let first = try #require(seen.heads.wait(deadline: deadline()) { $0.first })
        #expect(try house.verify(first).intact)
        housekeeping.finish(handsOutHeads: true)
        #expect(seen.heads.withLock { $0.last?.map(\.records) } == [2])
        let count = seen.heads.withLock { $0.count }
        housekeeping.finish(handsOutHeads: true)
        #expect(seen.heads.withLock { $0.count } == count)
        try house.execute("DELETE FROM audit WHERE number = 2")
        #expect(try !house.verify(seen.heads.withLock { $0.last ?? [] }).intact)
    }

    @Test("recording an audit event takes constant time")
    func watch() {
        let watch = AuditWatch()
        let last = ConditionLock<Int64>(0)
        watch.tell { at in last.withLock { $0 = at } }
        for at in 1...300_000 { watch.noteRecord(at: Int64(at)) }
        #expect(last.withLock { $0 } == 300_000)
    }

    @Test("all expired rows are removed, in several transactions if necessary")
    func sweeping() throws {
        let house = try House()
        let seen = Seen()
        let housekeeping = MaintenanceScheduler(
            house.context, sweeps: ExpiryJob.all(of: house.context, auditRetentionSeconds: 86_400), reports: seen.reports)
        for _ in 0..<450 { try house.record() }
        house.clock.advance(2 * 86_400)
        try house.record()
        let limit = deadline()
        while housekeeping.sweptRows < 450, Monotonic.nanoseconds() < limit { usleep(1000) }
        #expect(housekeeping.sweptRows == 450)
        #expect(housekeeping.lastSweptAt == house.clock.now)
        #expect(try house.numbers().first == 451)
        #expect(try house.verify().intact)
        #expect(seen.failures.withLock { $0 }.isEmpty)
        housekeeping.finish(handsOutHeads: false)
    }

    @Test("a failed task is reported and does not prevent the other tasks")
    func failure() throws {
        let house = try House()
        let seen = Seen()
        let housekeeping = MaintenanceScheduler(
            house.context, sweeps: ExpiryJob.all(of: house.context, auditRetentionSeconds: 86_400), reports: seen.reports)
        try house.record()
        try house.execute("DROP TABLE revocation")
        house.clock.advance(2 * 86_400)
        try house.record()
        #expect(seen.failures.wait(deadline: deadline()) { $0.first } == "revocations")
        let limit = deadline()
        while housekeeping.sweptRows < 1, Monotonic.nanoseconds() < limit { usleep(1000) }
        #expect(housekeeping.sweptRows == 1)
        housekeeping.finish(handsOutHeads: false)
    }
}
