/// Begins and ends transactions.
extension PostgresConnection {
    /// - Throws: `PostgresFailure`.
    func beginRead() throws { try begin(.read, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }

    /// - Throws: `PostgresFailure`.
    func beginWrite(_ isolation: Isolation) throws {
        switch isolation {
        case .readCommitted: try begin(.write, "BEGIN ISOLATION LEVEL READ COMMITTED")
        case .serializable: try begin(.write, "BEGIN ISOLATION LEVEL SERIALIZABLE")
        }
    }

    private func begin(_ mode: PostgresTransactionState.Mode, _ text: String) throws {
        forgetFailure()
        if hasBeenNotified() { epochs.forget() }
        transaction = PostgresTransactionState(mode: mode, glance: epochs.glance())
        try executeFirst(transactionSettings.map { "\(text); \($0)" } ?? text)
    }

    /// Commits the transaction. When this function returns, the changes are durable.
    ///
    /// - Parameter mark: A unique name for this commit.
    /// - Throws: `PostgresFailure`; `CommitInDoubt` if the connection was lost and the server may have committed the changes.
    func commit(mark: @autoclosure () -> String) throws {
        // Even if the body ignored an error, the error has aborted the transaction.
        if let failure { throw failure }
        let hasAdvanced = transaction.hasAdvancedEpoch
        defer {
            if hasAdvanced { epochs.forget() }
            transaction = PostgresTransactionState()
        }
        guard transaction.hasWritten else {
            try execute("COMMIT")
            return
        }
        let mark = mark()
        let warnings = warningCount
        do {
            let result = try execute(CommitMarker.commit(mark, before: lastMark, on: self))
            guard result.command == "COMMIT" else { throw PostgresFailure(.none, .failed(reason: "the server did not commit")) }
            // The server did not wait for its standby server to the end (PostgreSQL documentation, "Synchronous Replication"): the changes are
            // committed, and lost if the standby server takes over now.
            guard warningCount == warnings else { throw CommitInDoubt(mark: mark) }
            lastMark = mark
        } catch let failure as PostgresFailure where failure.remedy == .connectAnew { throw CommitInDoubt(mark: mark) }
    }

    /// Rolls back the open transaction, if the connection still works.
    func abandon() {
        if transaction.mode != .none, !isUsable { _ = try? execute("ROLLBACK") }
        transaction = PostgresTransactionState()
        forgetFailure()
    }
}
