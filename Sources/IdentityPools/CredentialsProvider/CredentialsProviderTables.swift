import Storage

/// What of a credential provider outlives its process: the identity's id, for each pool and key (cognito.md 8.1).
package enum CredentialsProviderTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE provider_identity (
            pool_id TEXT NOT NULL REFERENCES pool (id) ON DELETE CASCADE, provider_key TEXT NOT NULL,
            identity_id TEXT NOT NULL REFERENCES identity (id) ON DELETE CASCADE, kept_at BIGINT NOT NULL,
            PRIMARY KEY (pool_id, provider_key))
        """,
        "CREATE INDEX provider_identity_of_identity ON provider_identity (identity_id)",
    ]
}
