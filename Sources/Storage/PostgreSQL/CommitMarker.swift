/// The connection was lost after the commit was sent and before the server confirmed it.
struct CommitInDoubt: Error {
    let mark: String
}

/// A row that every commit inserts. It shows whether a commit was kept whose connection was lost: if the row exists, the commit was kept.
enum CommitMarker {
    static let table: SQL = """
        CREATE TABLE mintmark_commit (
            mark TEXT PRIMARY KEY, at BIGINT NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM now()) AS BIGINT))
        """

    /// Deletes the marks that are older than one day.
    static let sweep: SQL = "DELETE FROM mintmark_commit WHERE at < CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) - 86400"

    /// Inserts the mark, deletes the connection's previous mark, and commits: one message, one round trip.
    static func commit(_ mark: String, before: String?, on connection: PostgresConnection) -> String {
        let deletion = before.map { "DELETE FROM mintmark_commit WHERE mark = \(connection.literal($0)); " } ?? ""
        return "\(deletion)INSERT INTO mintmark_commit (mark) VALUES (\(connection.literal(mark))); COMMIT"
    }

    /// Determines over another connection whether a commit was kept, by writing its mark. If the lost transaction is still running, the
    /// insert waits for its end. If the commit message has not arrived yet, the mark inserted here makes that commit fail. The result is
    /// therefore final.
    ///
    /// A mark that exists is written again: the commit of this transaction waits for the synchronous standby servers, and with it they have
    /// everything before it. Otherwise the response would depend on changes that only a server has which may just be failing.
    ///
    /// - Throws: `PostgresFailure`, `StoreError`; `CommitInDoubt` if the standby servers did not confirm.
    static func wasKept(_ mark: String, askingOver connection: PostgresConnection) throws -> Bool {
        try connection.beginWrite(.readCommitted)
        let written = try connection.run(
            "INSERT INTO mintmark_commit (mark) VALUES ($1) ON CONFLICT (mark) DO UPDATE SET mark = excluded.mark RETURNING xmax = 0",
            [mark])
        let wasMissing = written.int(0) == 1
        let warnings = connection.warningCount
        let result = try connection.execute("COMMIT")
        guard result.command == "COMMIT" else { throw PostgresFailure(.none, .failed(reason: "the server did not commit")) }
        guard connection.warningCount == warnings else { throw CommitInDoubt(mark: mark) }
        return !wasMissing
    }
}
