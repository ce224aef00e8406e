import Glibc
import Platform
import Storage
import Testing

@Suite("Several processes with one database file")
struct SeveralProcessesTests {
    private let path = TemporaryFolder.shared.path(uniqueName())

    private func open(waitMilliseconds: Int32 = 5_000) throws -> SQLiteDatabase {
        try SQLiteDatabase(
            .file(path), migrations: testSchema, options: OpeningOptions(waitMilliseconds: waitMilliseconds), connectionId: uniqueName())
    }

    /// Starts another process that holds the write lock of the file.
    private func holder() throws -> Program {
        let shell = try Program.shell(path)
        try shell.say("BEGIN IMMEDIATE; SELECT 'held';")
        #expect(shell.lines(1) == ["held"])
        return shell
    }

    @Test("while another process holds the lock, writes fail with busy in time and reads succeed")
    func locked() throws {
        let database = try open(waitMilliseconds: 300)
        try database.insert("before")
        let shell = try holder()
        let start = Monotonic.nanoseconds()
        try together(10) { thread in
            #expect(throws: StoreError.busy) { try database.insert("\(thread)") }
        }
        let waited = Monotonic.nanoseconds() - start
        #expect(waited > 250_000_000 && waited < 5_000_000_000)
        #expect(try database.impatient.has("before"))
        try shell.say("ROLLBACK;")
        try shell.finish()
        try database.insert("after")
        #expect(try database.count() == 2)
    }

    @Test("a write waits for a lock that is held briefly")
    func lockedForAMoment() throws {
        let database = try open()
        let shell = try holder()
        try together(2) { thread in
            if thread == 0 {
                try database.insert("a")
            } else {
                usleep(200_000)
                try shell.say("COMMIT;")
            }
        }
        #expect(try database.has("a"))
        try shell.finish()
    }

    @Test("an exclusively locked file fails with busy when it is opened")
    func exclusive() throws {
        try open().close()
        let shell = try Program.shell(path)
        try shell.say("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT 'held';")
        #expect(shell.lines(2).last == "held")
        #expect(throws: StoreError.busy) { try open(waitMilliseconds: 200) }
        try shell.say("COMMIT;")
        try shell.finish()
        #expect(try open().count() == 0)
    }

    @Test("two stores on one file see each other's rows and epochs")
    func two() throws {
        let (one, other) = (try open(), try open())
        try together(2) { thread in
            let mine = thread == 0 ? one : other
            for number in 0..<200 { try mine.insert("\(thread) \(number)") }
        }
        #expect(try one.count() == 400)
        #expect(try other.count() == 400)
        let before = try one.read { try $0.epoch }
        try other.write { try $0.advanceEpoch() }
        #expect(try one.read { try $0.epoch } == before + 1)
        #expect(try one.write { try $0.epoch } == before + 1)
    }

    @Test("a process killed during writes loses no acknowledged write")
    func killed() throws {
        for _ in 0..<5 {
            let probe = try Program.probe("write", path + ".killed", "16")
            let answered = probe.lines(300)
            probe.kill()
            let rest = probe.lines(.max)
            let database = try SQLiteDatabase(
                .file(path + ".killed"), migrations: [Migration(version: 1, statements: [])], connectionId: uniqueName())
            #expect(answered.count >= 300)
            for name in answered + rest {
                let isThere = try database.read { tx in
                    try tx.queryOne("SELECT id FROM item WHERE id = $1", String(name)) { $0.string(0) } != nil
                }
                #expect(isThere, "\(name)")
            }
            #expect(try database.damage() == [])
        }
    }

    @Test("two processes can write to one file at the same time")
    func twoProcesses() throws {
        let probes = [try Program.probe("write", path + ".two", "4"), try Program.probe("write", path + ".two", "4")]
        for probe in probes { #expect(!probe.lines(100).contains { $0.hasPrefix("!") }) }
        for probe in probes { probe.kill() }
    }
}
