import Storage

/// The table of the identity providers of tenants.
package enum IdpTables {
    package static let statements: [SQL] = [
        // tenant_id has no reference: the default tenant may have no row.
        """
        CREATE TABLE idp (
            tenant_id TEXT NOT NULL, provider_id TEXT NOT NULL, settings TEXT NOT NULL, client_secret BYTEA, created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL, PRIMARY KEY (tenant_id, provider_id))
        """
    ]
}
