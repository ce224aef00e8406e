/// One open read transaction.
final class SQLiteView {
    private let readers: SQLiteReaders
    private let owned: Owned<SQLiteConnection>
    var connection: SQLiteConnection { owned.value }

    init(of readers: SQLiteReaders, _ owned: Owned<SQLiteConnection>) {
        self.readers = readers
        self.owned = owned
    }

    /// Runs `body` in it.
    func run<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = Transaction(connection)
        defer { transaction.end() }
        return try body(transaction)
    }

    /// Runs `body`, which may be told not to wait.
    func run<R>(patient: Bool, _ body: (Transaction) throws -> R) throws -> R {
        connection.setPatient(patient)
        return try run(body)
    }

    func isOf(_ readers: SQLiteReaders) -> Bool { self.readers === readers }

    /// Whether the database itself has refused something; nothing more is read from it then.
    var hasFailed: Bool { connection.lastError != nil }

    /// Ends it well.
    ///
    /// - Throws: `StoreError`; then it must be abandoned.
    func commit() throws {
        try connection.run("COMMIT")
        connection.settleRead()
        readers.end(owned)
    }

    /// Ends it however it can be ended.
    func abandon() {
        connection.abandon()
        readers.end(owned)
    }
}
