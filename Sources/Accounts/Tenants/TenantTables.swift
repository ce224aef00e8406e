import Storage

/// The table of tenants. The default tenant has a row only once it was changed.
package enum TenantTables {
    package static let statements: [SQL] = [
        "CREATE TABLE tenant (id TEXT PRIMARY KEY, settings TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)"
    ]
}
