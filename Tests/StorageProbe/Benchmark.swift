import CSQLite
import Glibc
import Platform
import Storage
import Synchronization

/// Measures the overhead of Storage compared to the C API of SQLite on the same disk.
struct Benchmark {
    let folder: String
    private let seconds = 2.0

    func run() throws {
        plainInserts()
        plainReads()
        for threads in [1, 8, 32] { try groupedWrites(threads: threads, memory: false) }
        try groupedWrites(threads: 1, memory: true)
        try groupedWrites(threads: 32, memory: true)
        for memory in [false, true] { for threads in [1, 2] { try reads(threads: threads, memory: memory) } }
        try opening()
    }

    private func report(_ what: String, _ value: Double, _ unit: String) {
        let digits = value < 100 ? "\((value * 100).rounded() / 100)" : "\(Int(value))"
        print(what + String(repeating: " ", count: max(1, 58 - what.count)) + digits + " " + unit)
    }

    private func fresh(_ name: String, memory: Bool) throws -> SQLiteDatabase {
        let path = "\(folder)/\(name)-\(getpid()).db"
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        let location = memory ? SQLiteDatabase.Location.memory : .file(path)
        return try SQLiteDatabase(location, migrations: Probe.migrations, connectionId: "benchmark-\(name)-\(memory)")
    }

    /// Inserts with the C API, one row per transaction: the limit for writes without group commit.
    private func plainInserts() {
        let path = "\(folder)/plain-\(getpid()).db"
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        var database: OpaquePointer?
        var insert: OpaquePointer?
        sqlite3_open(path, &database)
        sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", nil, nil, nil)
        sqlite3_exec(database, "CREATE TABLE item (id TEXT PRIMARY KEY, value BIGINT NOT NULL)", nil, nil, nil)
        sqlite3_prepare_v2(database, "INSERT INTO item VALUES ('row ' || $1, $1)", -1, &insert, nil)
        let rate = alone { number in
            sqlite3_bind_int64(insert, 1, Int64(number))
            sqlite3_step(insert)
            sqlite3_reset(insert)
        }
        report("plain C API, one row a transaction", rate, "writes/s")
        sqlite3_finalize(insert)
        sqlite3_close(database)
    }

    /// Reads of one row with the C API, one per transaction: the limit for reads.
    private func plainReads() {
        var database: OpaquePointer?
        var select: OpaquePointer?
        sqlite3_open_v2("\(folder)/plain-\(getpid()).db", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        sqlite3_prepare_v2(database, "SELECT value FROM item WHERE id = $1", -1, &select, nil)
        let rate = alone { number in
            sqlite3_bind_text(select, 1, "row \(number % 100)", -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            sqlite3_step(select)
            sqlite3_reset(select)
        }
        report("plain C API, read one row", 1e6 / rate, "microseconds")
        sqlite3_finalize(select)
        sqlite3_close(database)
    }

    private func groupedWrites(threads: Int, memory: Bool) throws {
        let database = try fresh("grouped-\(threads)", memory: memory)
        let before = try database.facts().commits
        let rate = try together(threads) { thread, number in
            try database.write { tx in
                _ = try tx.execute("INSERT INTO item (id, value) VALUES ($1, $2)", "row \(thread) \(number)", number)
            }
        }
        let facts = try database.facts()
        report("\(threads) threads write, \(memory ? "memory" : "disk")", rate, "writes/s")
        report("    writes per commit", Double(facts.writes) / Double(max(1, facts.commits - before)), "")
        database.close()
    }

    private func reads(threads: Int, memory: Bool) throws {
        let database = try fresh("read", memory: memory)
        try database.write { tx in
            for number in 0..<10_000 { try tx.execute("INSERT INTO item (id, value) VALUES ($1, $2)", "row \(number)", number) }
        }
        let place = memory ? "memory" : "disk"
        let plain = try together(threads) { thread, number in
            _ = try database.read { tx in try tx.queryOne("SELECT value FROM item WHERE id = $1", "row \(number % 10_000)") { $0.int(0) } }
        }
        report("\(threads) threads read one row, \(place)", plain, "reads/s")
        report("    each", Double(threads) / plain * 1e6, "microseconds")
        let both = try together(threads) { thread, number in
            _ = try database.read(StoreAccess(.refused)) { tx in
                (try tx.epoch, try tx.queryOne("SELECT value FROM item WHERE id = $1", "row \(number % 10_000)") { $0.int(0) })
            }
        }
        report("    each with the epoch", Double(threads) / both * 1e6, "microseconds")
        let empty = try together(threads) { thread, number in try database.read { _ in } }
        report("    each without a statement", Double(threads) / empty * 1e6, "microseconds")
        database.close()
    }

    private func opening() throws {
        var times: [Double] = []
        for number in 0..<200 {
            let start = Monotonic.nanoseconds()
            let database = try SQLiteDatabase(.memory, migrations: Self.manyTables, connectionId: "opening-\(number)")
            times.append(elapsed(since: start) * 1e6)
            database.close()
        }
        report("open and migrate a memory store, 10 tables: first", times[0], "microseconds")
        report("    median", times.sorted()[100], "microseconds")
    }

    private func alone(_ body: (_ number: Int) -> Void) -> Double {
        let start = Monotonic.nanoseconds()
        var number = 0
        while elapsed(since: start) < seconds {
            body(number)
            number += 1
        }
        return Double(number) / elapsed(since: start)
    }

    /// Runs `body` repeatedly on `threads` threads and returns the number of calls per second.
    private func together(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int, _ number: Int) throws -> Void) throws -> Double {
        let counts = ConditionLock((running: threads, calls: 0, failure: (any Error)?.none))
        let start = Monotonic.nanoseconds()
        let seconds = seconds
        for thread in 0..<threads {
            _ = Thread.start(name: "benchmark") {
                var number = 0
                var failure: (any Error)?
                do {
                    while elapsed(since: start) < seconds {
                        try body(thread, number)
                        number += 1
                    }
                } catch { failure = error }
                counts.withLock { $0 = ($0.running - 1, $0.calls + number, $0.failure ?? failure) }
                counts.broadcast()
            }
        }
        let (calls, failure) = counts.wait { $0.running == 0 ? ($0.calls, $0.failure) : nil }
        if let failure { throw failure }
        return Double(calls) / elapsed(since: start)
    }

    private static let manyTables = [
        Migration(
            version: 1,
            statements: [
                "CREATE TABLE a (id TEXT PRIMARY KEY, value TEXT NOT NULL)", "CREATE TABLE b (id TEXT PRIMARY KEY, value TEXT NOT NULL)",
                "CREATE TABLE c (id TEXT PRIMARY KEY, value TEXT NOT NULL)", "CREATE TABLE d (id TEXT PRIMARY KEY, value TEXT NOT NULL)",
                "CREATE TABLE e (id TEXT PRIMARY KEY, value TEXT NOT NULL)", "CREATE TABLE f (id TEXT PRIMARY KEY, value TEXT NOT NULL)",
                "CREATE TABLE g (id TEXT PRIMARY KEY, value TEXT NOT NULL)", "CREATE TABLE h (id TEXT PRIMARY KEY, value TEXT NOT NULL)",
                "CREATE TABLE i (id TEXT PRIMARY KEY, value TEXT NOT NULL)", "CREATE TABLE j (id TEXT PRIMARY KEY, value TEXT NOT NULL)",
                "CREATE INDEX a_value ON a (value)", "CREATE INDEX b_value ON b (value)", "CREATE INDEX c_value ON c (value)",
            ])
    ]
}

private func elapsed(since start: UInt64) -> Double { Double(Monotonic.nanoseconds() - start) / 1e9 }
