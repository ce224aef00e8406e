import Storage

/// The stored part of credentials providers: the identity ID for each pool and key.
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
