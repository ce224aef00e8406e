import Foundation

@testable import Storage

/// A PostgreSQL server that stops when this process exits.
final class PostgresServer: Sendable {
    /// The server shared by most tests. Each test creates its own database.
    static let shared = PostgresServer()

    let folder: String
    private let program: Program

    init(settings: [String] = []) {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        guard let program = try? Program("\(root)/postgres", settings), let folder = program.lines(1).first else {
            preconditionFailure("the tests need a PostgreSQL server: apt-get install postgresql")
        }
        self.program = program
        self.folder = String(folder)
    }

    func address(of database: String, user: String = "mintmark") -> PostgresAddress {
        PostgresAddress("postgres://\(user)@/\(database)?host=\(folder)")
    }

    /// Creates an empty database.
    func newDatabase() throws -> PostgresAddress {
        let name = uniqueName()
        try administer(#"CREATE DATABASE "\#(name)""#)
        return address(of: name)
    }

    /// Runs a statement with administrator rights, as psql does.
    func administer(_ statement: String, in database: String = "postgres") throws {
        let connection = try PostgresConnecting(address(of: database), waitMilliseconds: 20_000).connect(name: "")
        defer { connection.close() }
        try connection.execute(statement)
    }

    /// Stops, crashes or starts the server, and returns after the change is complete.
    func order(_ order: String) throws {
        try program.say(order)
        guard program.lines(1) == [Substring(order)] else { throw Refused() }
    }
}
