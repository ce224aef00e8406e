import Storage

/// The tables of accounts, flows, and the counters of failures and codes.
package enum PeopleTables {
    package static let statements: [SQL] = [
        // tenant_id has no foreign key: the default tenant may have no row.
        """
        CREATE TABLE account (
            id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, username TEXT, email TEXT, email_verified BOOLEAN NOT NULL,
            method TEXT NOT NULL, password BYTEA, attributes TEXT NOT NULL, claims TEXT NOT NULL, disabled BOOLEAN NOT NULL,
            must_change_password BOOLEAN NOT NULL, valid_after BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
            last_sign_in_at BIGINT)
        """,
        "CREATE INDEX account_of_tenant ON account (tenant_id, id)",
        """
        CREATE TABLE account_name (
            tenant_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
            account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, PRIMARY KEY (tenant_id, kind, name))
        """,
        "CREATE INDEX account_name_of_account ON account_name (account_id)",
        """
        CREATE TABLE flow (
            id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, kind TEXT NOT NULL, stage TEXT NOT NULL, step BIGINT NOT NULL,
            username TEXT NOT NULL, account_id TEXT NOT NULL, is_decoy BOOLEAN NOT NULL, is_verified BOOLEAN NOT NULL, password BYTEA,
            attributes TEXT NOT NULL, code BYTEA, code_expires_at BIGINT NOT NULL, code_sent_at BIGINT NOT NULL,
            code_tries BIGINT NOT NULL, sends BIGINT NOT NULL, request BYTEA NOT NULL, requested_at BIGINT NOT NULL,
            idle_until BIGINT NOT NULL, ends_at BIGINT NOT NULL, language TEXT, ending TEXT)
        """,
        "CREATE INDEX flow_request ON flow (request)",
        "CREATE INDEX flow_of_account ON flow (account_id)",
        "CREATE INDEX flow_ends ON flow (ends_at)",
        """
        CREATE TABLE failure_count (
            subject TEXT PRIMARY KEY, failures BIGINT NOT NULL, locked_until BIGINT NOT NULL, recent TEXT NOT NULL,
            expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX failure_count_expires ON failure_count (expires_at)",
        "CREATE TABLE send_count (address TEXT PRIMARY KEY, since BIGINT NOT NULL, sent BIGINT NOT NULL, expires_at BIGINT NOT NULL)",
        "CREATE INDEX send_count_expires ON send_count (expires_at)",
    ]
}
