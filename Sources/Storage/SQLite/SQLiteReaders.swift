import Synchronization

/// The connections that read. One that was just used is taken first: its pages and statements are warm.
final class SQLiteReaders: Sendable {
    private struct State: ~Copyable {
        var idle: [Owned<SQLiteConnection>] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let open: @Sendable (_ patient: Bool) throws -> Owned<SQLiteConnection>
    /// How many stay open while nobody reads: as many as there are threads that read, since each one opened anew reads the
    /// schema and prepares its statements again.
    private let mostIdle = 40

    /// - Parameter open: opens one more; it may be told not to wait.
    init(open: @escaping @Sendable (_ patient: Bool) throws -> Owned<SQLiteConnection>) { self.open = open }

    /// Runs `body` in one transaction of one connection.
    ///
    /// - Throws: `StoreError.closed`; `WouldWait` if `patient` is false; what `body` throws.
    func read<R>(patient: Bool, _ body: (Transaction) throws -> R) throws -> R {
        let owned = try take(patient: patient)
        let connection = owned.value
        // A transaction that cannot be ended goes with its connection.
        defer { if connection.isOutsideTransaction { giveBack(owned) } }
        connection.setPatient(patient)
        try connection.run("BEGIN")
        let transaction = Transaction(connection)
        defer { transaction.end() }
        do {
            let result = try body(transaction)
            try connection.run("COMMIT")
            return result
        } catch {
            connection.abandon()
            throw error
        }
    }

    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for owned in idle { owned.value.close() }
    }

    private func take(patient: Bool) throws -> Owned<SQLiteConnection> {
        let idle = try state.withLock { state throws(StoreError) in
            if state.isClosed { throw .closed }
            return state.idle.popLast()
        }
        return try idle ?? open(patient)
    }

    private func giveBack(_ reader: Owned<SQLiteConnection>) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle.count < mostIdle else { return false }
            state.idle.append(reader)
            return true
        }
        // Closing takes system calls; nobody waits for them.
        if !isKept { reader.value.close() }
    }
}
