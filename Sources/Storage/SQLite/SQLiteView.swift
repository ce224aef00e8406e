/// An open read transaction.
final class SQLiteView: OpenView {
    private let readers: SQLiteReaders
    private let owned: UnsafeTransfer<SQLiteConnection>
    var connection: SQLiteConnection { owned.value }

    init(of readers: SQLiteReaders, _ owned: UnsafeTransfer<SQLiteConnection>) {
        self.readers = readers
        self.owned = owned
    }

    /// Runs `body` in the transaction.
    func run<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = Transaction(connection)
        defer { transaction.end() }
        return try body(transaction)
    }

    var source: AnyObject { readers }

    var hasFailed: Bool { connection.lastError != nil }

    func commit() throws {
        try connection.run("COMMIT")
        connection.settleRead()
        readers.end(owned)
    }

    func abandon() {
        connection.abandon()
        readers.end(owned)
    }
}
