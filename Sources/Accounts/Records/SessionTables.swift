import Storage

/// The tables of sessions and refresh tokens. Refresh tokens are stored as HMACs.
package enum SessionTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE session (
            id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, amr TEXT NOT NULL,
            provider TEXT NOT NULL, claims TEXT NOT NULL, second_factor TEXT, factor_id TEXT, scope TEXT NOT NULL,
            authenticated_at BIGINT NOT NULL, created_at BIGINT NOT NULL, last_used_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX session_of_account ON session (account_id, created_at)",
        "CREATE INDEX session_expires ON session (expires_at)",
        """
        CREATE TABLE refresh_token (
            mac BYTEA PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE, parent BYTEA, used_at BIGINT,
            expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX refresh_token_of_session ON refresh_token (session_id)",
        "CREATE INDEX refresh_token_parent ON refresh_token (parent)",
    ]

    /// The audience of a session's access tokens. NULL means the tenant itself, also for sessions of earlier versions.
    package static let audience: [SQL] = ["ALTER TABLE session ADD COLUMN audience TEXT"]
}
