import Storage

/// The stored session of a local user of this machine.
struct OwnSessionRecord: Sendable {
    /// The name of the user among those who share the store.
    let name: String
    let sessionId: String
    /// Encrypted.
    let refreshToken: [UInt8]
    /// The last issued tokens, encrypted.
    let tokens: [UInt8]
}

/// The table of sessions created by `mintmark login`. When a session ends, its row is deleted.
package enum OwnSessionTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE own_session (
            name TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE, refresh_token BYTEA NOT NULL,
            tokens BYTEA NOT NULL)
        """,
        "CREATE INDEX own_session_of_session ON own_session (session_id)",
    ]
}

extension Transaction {
    func ownSession(_ name: String) throws -> OwnSessionRecord? {
        try queryOne("SELECT name, session_id, refresh_token, tokens FROM own_session WHERE name = $1", name) {
            OwnSessionRecord(name: $0.string(0), sessionId: $0.string(1), refreshToken: $0.bytes(2), tokens: $0.bytes(3))
        }
    }

    func keep(_ session: OwnSessionRecord) throws {
        try execute(
            """
            INSERT INTO own_session (name, session_id, refresh_token, tokens) VALUES ($1, $2, $3, $4)
            ON CONFLICT (name) DO UPDATE SET
                session_id = excluded.session_id, refresh_token = excluded.refresh_token, tokens = excluded.tokens
            """, session.name, session.sessionId, session.refreshToken, session.tokens)
    }

    /// Stores the tokens that belong to a refresh token, if it is still the current one.
    func keepTokens(_ tokens: [UInt8], besides refreshToken: [UInt8], of name: String) throws {
        try execute("UPDATE own_session SET tokens = $3 WHERE name = $1 AND refresh_token = $2", name, refreshToken, tokens)
    }

    /// Deletes the stored session of a user. Returns `false` if there is none.
    func forgetOwnSession(_ name: String) throws -> Bool { try execute("DELETE FROM own_session WHERE name = $1", name) == 1 }
}
