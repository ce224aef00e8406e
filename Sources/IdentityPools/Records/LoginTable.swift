import Storage

/// The layout of the `login` table since schema version 3.
///
/// A lookup of an identity by its login, and of the logins of an identity, each searches one tree. The previous layout required two: an
/// index and the table.
package enum LoginTable {
    package static let coveringIndex: [SQL] = [
        "DROP INDEX login_of_identity",
        "CREATE INDEX login_of_identity ON login (identity_id, provider, subject)",
    ]

    /// In SQLite, a table without row IDs is stored in the tree of its primary key (https://www.sqlite.org/withoutrowid.html).
    package static let withoutRowid: [SQL] = [
        """
        CREATE TABLE login_by_subject (
            pool_id TEXT NOT NULL, provider TEXT NOT NULL, subject TEXT NOT NULL,
            identity_id TEXT NOT NULL REFERENCES identity (id) ON DELETE CASCADE, linked_at BIGINT NOT NULL,
            PRIMARY KEY (pool_id, provider, subject)) WITHOUT ROWID
        """,
        "INSERT INTO login_by_subject SELECT * FROM login ORDER BY pool_id, provider, subject",
        "DROP TABLE login",
        "ALTER TABLE login_by_subject RENAME TO login",
        "CREATE INDEX login_of_identity ON login (identity_id, provider, subject)",
    ]
}
