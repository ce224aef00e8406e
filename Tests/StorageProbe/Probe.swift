import Glibc
import Platform
import Storage

/// A second process for the tests, and the measurements of Storage.
///
/// `StorageProbe write FILE THREADS` writes until it is killed and prints each row's name once it was answered.
/// `StorageProbe fill FILE BYTES` writes until a file size limit of BYTES is met, and prints what it met and what it kept.
/// `StorageProbe benchmark FOLDER` prints figures; build it with `-c release`.
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

    /// One line on standard output, at once and in one piece.
    private static func say(_ line: String) {
        let text = Array((line + "\n").utf8)
        _ = Glibc.write(STDOUT_FILENO, text, text.count)
    }
}
