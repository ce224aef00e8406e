/// Beginning and ending transactions.
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
        try execute(text)
    }

    /// Ends the transaction well. What was changed is kept when this returns.
    ///
    /// - Parameter mark: a name that this commit alone has.
    /// - Throws: `PostgresFailure`; `CommitInDoubt` if the connection was lost and the server may have kept the changes.
    func commit(mark: @autoclosure () -> String) throws {
        // An error that the body has swallowed has ended the transaction all the same.
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
        do {
            let result = try execute(CommitMark.commit(mark, before: lastMark, on: self))
            guard result.command == "COMMIT" else { throw PostgresFailure(.none, .failed(reason: "the server did not commit")) }
            lastMark = mark
        } catch let failure as PostgresFailure where failure.remedy == .connectAnew { throw CommitInDoubt(mark: mark) }
    }

    /// Undoes whatever is open, if the connection is there to do it.
    func abandon() {
        if transaction.mode != .none, !isUsable { _ = try? execute("ROLLBACK") }
        transaction = PostgresTransactionState()
        forgetFailure()
    }
}
