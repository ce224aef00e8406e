import Storage

/// The table of tenants. The default tenant has a row only after its first change.
package enum TenantTables {
    package static let statements: [SQL] = [
        "CREATE TABLE tenant (id TEXT PRIMARY KEY, settings TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)"
    ]
}
