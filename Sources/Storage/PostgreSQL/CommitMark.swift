/// The connection was lost while the server was told to commit.
struct CommitInDoubt: Error {
    let mark: String
}

/// A row that every commit leaves, by which a connection lost at that moment is decided: if the row is there, so is the rest.
enum CommitMark {
    static let table: SQL = """
        CREATE TABLE mintmark_commit (
            mark TEXT PRIMARY KEY, at BIGINT NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM now()) AS BIGINT))
        """

    /// Takes away the marks of connections that are long gone.
    static let sweep: SQL = "DELETE FROM mintmark_commit WHERE at < CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) - 86400"

    /// Writes the mark, takes away the connection's one before, and commits: one message, one round trip.
    static func commit(_ mark: String, before: String?, on connection: PostgresConnection) -> String {
        let deletion = before.map { "DELETE FROM mintmark_commit WHERE mark = \(connection.literal($0)); " } ?? ""
        return "\(deletion)INSERT INTO mintmark_commit (mark) VALUES (\(connection.literal(mark))); COMMIT"
    }

    /// Finds out over another connection whether a commit was kept, by writing its mark. If the lost transaction is still at work, this
    /// waits for its end; if its message has yet to arrive, the mark written here makes it fail. So the answer holds whatever happens later.
    ///
    /// - Throws: `PostgresFailure`, `StoreError`.
    static func wasKept(_ mark: String, askingOver connection: PostgresConnection) throws -> Bool {
        try connection.run("INSERT INTO mintmark_commit (mark) VALUES ($1) ON CONFLICT (mark) DO NOTHING", [mark]).changes == 0
    }
}
