import Foundation

@testable import Storage

/// A PostgreSQL server that ends with this process.
final class PostgresServer: Sendable {
    /// The one that most tests share, each with a database of its own.
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

    /// A new, empty database.
    func newDatabase() throws -> PostgresAddress {
        let name = uniqueName()
        try administer(#"CREATE DATABASE "\#(name)""#)
        return address(of: name)
    }

    /// Runs a statement as a person would with psql.
    func administer(_ statement: String, in database: String = "postgres") throws {
        let connection = try PostgresConnecting(address(of: database), waitMilliseconds: 20_000).connect(name: "")
        defer { connection.close() }
        try connection.execute(statement)
    }

    /// Stops, crashes or starts the server, and returns when that is done.
    func order(_ order: String) throws {
        try program.say(order)
        guard program.lines(1) == [Substring(order)] else { throw Refused() }
    }
}
