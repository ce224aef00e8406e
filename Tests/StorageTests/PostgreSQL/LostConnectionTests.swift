import Platform
import Synchronization
import Testing

@testable import Storage

@Suite("Lost connections to PostgreSQL")
struct LostConnectionTests {
    private let address: PostgresAddress
    private let database: PostgresDatabase

    init() throws {
        address = try PostgresServer.shared.newDatabase()
        database = try PostgresDatabase(address, migrations: testSchema, connectionId: uniqueName())
    }

    /// Ends all connections, as an administrator or a restart does.
    private func endConnections() throws {
        try PostgresServer.shared.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
    }

    private var name: String { String(address.description.split(separator: "/")[2].prefix { $0 != "?" }) }

    @Test("a connection lost between transactions is replaced transparently")
    func idle() throws {
        try database.insert("a")
        try endConnections()
        #expect(try database.count() == 1)
        try endConnections()
        try database.insert("b")
        #expect(try database.count() == 2)
    }

    @Test("after a connection is lost within a transaction, the body is run again and its changes are applied once")
    func within() throws {
        var runs = 0
        let id = try database.write { tx in
            runs += 1
            try tx.execute("INSERT INTO item (id) VALUES ($1)", "run \(runs)")
            if runs == 1 { try endConnections() }
            _ = try tx.queryOne("SELECT COUNT(*) FROM item") { $0.int(0) }
            return tx.connectionId
        }
        #expect(runs == 2)
        #expect(try database.read { try $0.query("SELECT id FROM item") { $0.string(0) } } == ["run 2"])
        #expect(id != "")
    }

    @Test("a new connection has a new ID, so that no two connections extend the same audit chain")
    func names() throws {
        let before = try database.write { $0.connectionId }
        try endConnections()
        let after = try database.write { $0.connectionId }
        #expect(before != after)
        #expect(after.hasPrefix(before))
    }

    // MARK: Commit marks

    private func connect() throws -> PostgresConnection { try PostgresConnecting(address, waitMilliseconds: 5_000).connect(name: "") }

    @Test("a successful commit is recognized by its mark")
    func kept() throws {
        let connection = try connect()
        try connection.beginWrite(.readCommitted)
        _ = try connection.run("INSERT INTO item (id) VALUES ('a')", []) { _ in .more }
        try connection.commit(mark: "m1")
        #expect(try CommitMarker.wasKept("m1", askingOver: connect()))
    }

    @Test("a commit that arrives after the check for its mark fails")
    func late() throws {
        let connection = try connect()
        try connection.beginWrite(.readCommitted)
        _ = try connection.run("INSERT INTO item (id) VALUES ('a')", []) { _ in .more }
        #expect(try !CommitMarker.wasKept("m2", askingOver: connect()))
        #expect(throws: PostgresFailure.self) { try connection.commit(mark: "m2") }
        connection.abandon()
        #expect(try database.count() == 0)
    }

    @Test("the check waits for the end of a running transaction that has written its mark")
    func atWork() throws {
        let connection = UnsafeTransfer(try connect())
        try connection.value.beginWrite(.readCommitted)
        try connection.value.execute("INSERT INTO mintmark_commit (mark) VALUES ('m3')")
        let isDone = Atomic<Bool>(false)
        let asking = UnsafeTransfer(try connect())
        try together(2) { thread in
            if thread == 0 {
                #expect(try CommitMarker.wasKept("m3", askingOver: asking.value))
                let wasDone = isDone.load(ordering: .sequentiallyConsistent)
                #expect(wasDone)
            } else {
                _ = Signal().wait(seconds: 1)
                isDone.store(true, ordering: .sequentiallyConsistent)
                try connection.value.execute("COMMIT")
            }
        }
    }
}
