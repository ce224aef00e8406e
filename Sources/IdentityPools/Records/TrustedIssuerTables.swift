import Storage

/// The tables of trusted issuers and of the policies of roles.
package enum TrustedIssuerTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE trusted_issuer (
            name TEXT PRIMARY KEY, settings TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
        """,
        // The `jti` values of issuers that allow each token once.
        "CREATE TABLE used_workload_token (digest BYTEA PRIMARY KEY, expires_at BIGINT NOT NULL)",
        "CREATE INDEX used_workload_token_expires ON used_workload_token (expires_at)",
        // Permission policies, which are stored for the IAM API and not evaluated. An attached policy has the document ''.
        """
        CREATE TABLE role_policy (
            role_name TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (role_name, kind, name))
        """,
        "ALTER TABLE role ADD COLUMN description TEXT",
    ]
}
