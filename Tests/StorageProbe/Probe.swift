import Glibc
import Platform
import Storage

/// A second process for the tests, and the benchmark of Storage.
///
/// - `StorageProbe write FILE THREADS` writes until it is killed, and prints the ID of each committed row.
/// - `StorageProbe fill FILE BYTES` writes until the file size limit of BYTES is reached. It prints the error, then
///   the number of committed rows and the number of rows found.
/// - `StorageProbe benchmark FOLDER` prints the measurements. Build it with `-c release`.
@main
enum Probe {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("write", 3): try writeForever(arguments[2], threads: Int(arguments[3]) ?? 1)
        case ("fill", 3): try fill(arguments[2], limit: UInt(arguments[3]) ?? 0)
        case ("benchmark", 2): try Benchmark(folder: arguments[2]).run()
        default: exit(64)
        }
    }

    static let migrations = [Migration(version: 1, statements: ["CREATE TABLE item (id TEXT PRIMARY KEY, value BIGINT NOT NULL)"])]

    static func open(_ path: String) throws -> SQLiteDatabase {
        try SQLiteDatabase(.file(path), migrations: migrations, connectionId: "probe-\(getpid())")
    }

    private static func writeForever(_ path: String, threads: Int) throws {
        let database = try open(path)
        for thread in 0..<threads {
            _ = Thread.start(name: "write") {
                for number in 0... {
                    let name = "\(getpid())-\(thread)-\(number)"
                    do {
                        try database.write { tx in _ = try tx.execute("INSERT INTO item (id, value) VALUES ($1, $2)", name, number) }
                        say(name)
                    } catch { say("! \(error)") }
                }
            }
        }
        while true { sleep(60) }
    }

    private static func fill(_ path: String, limit: UInt) throws {
        let database = try open(path)
        signal(SIGXFSZ, SIG_IGN)
        var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
        var kept: Int64 = 0
        do {
            while true {
                try database.write { tx in
                    let long = "\(kept)" + String(repeating: "x", count: 1000)
                    try tx.execute("INSERT INTO item (id, value) VALUES ($1, $2)", long, kept)
                }
                kept += 1
            }
        } catch { say(error as? StoreError == .full ? "full" : "\(error)") }
        let found = try database.read { tx in try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) } }
        say("\(kept) \(found ?? -1)")
    }

    /// Writes one line to standard output with a single unbuffered write.
    private static func say(_ line: String) {
        let text = Array((line + "\n").utf8)
        _ = Glibc.write(STDOUT_FILENO, text, text.count)
    }
}
