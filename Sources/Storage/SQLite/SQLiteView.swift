/// An open read transaction.
final class SQLiteView {
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

    func isOf(_ readers: SQLiteReaders) -> Bool { self.readers === readers }

    /// Whether the database has returned an error; the view must then not be used for further reads.
    var hasFailed: Bool { connection.lastError != nil }

    /// Ends the transaction.
    ///
    /// - Throws: `StoreError`; the view must then be abandoned.
    func commit() throws {
        try connection.run("COMMIT")
        connection.settleRead()
        readers.end(owned)
    }

    /// Rolls back the transaction.
    func abandon() {
        connection.abandon()
        readers.end(owned)
    }
}
