import Contract
import JSON
import Storage

/// The table of applications, and the columns that name the application of a flow and a session.
package enum ApplicationTables {
    package static let statements: [SQL] = [
        // tenant_id has no reference: the default tenant may have no row.
        """
        CREATE TABLE application (
            id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, client_id TEXT NOT NULL, settings TEXT NOT NULL, created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL)
        """,
        "CREATE UNIQUE INDEX application_of_tenant ON application (tenant_id, client_id)",
        // A session has no foreign key: it would refer to a later table. `Transaction.session` ignores sessions of deleted applications.
        "ALTER TABLE session ADD COLUMN client_id TEXT",
        "ALTER TABLE session ADD COLUMN application_id TEXT",
        "CREATE INDEX session_of_application ON session (application_id) WHERE application_id IS NOT NULL",
        "ALTER TABLE flow ADD COLUMN application TEXT",
    ]
}

extension Transaction {
    package func application(_ clientId: String, of tenantId: String) throws -> ApplicationRecord? {
        let found = try queryOne(
            "SELECT id, settings, created_at, updated_at FROM application WHERE tenant_id = $1 AND client_id = $2", tenantId, clientId,
            row: ApplicationRecord.init)
        return try found.map { try withSecrets([$0], of: tenantId)[0] }
    }

    package func applications(of tenantId: String, after clientId: String, limit: Int) throws -> [ApplicationRecord] {
        let found = try query(
            """
            SELECT id, settings, created_at, updated_at FROM application WHERE tenant_id = $1 AND client_id > $2
            ORDER BY client_id LIMIT $3
            """, tenantId, clientId, limit, row: ApplicationRecord.init)
        return try withSecrets(found, of: tenantId)
    }

    /// Only confidential applications have secrets, so most tenants need no second query.
    private func withSecrets(_ applications: [ApplicationRecord], of tenantId: String) throws -> [ApplicationRecord] {
        guard applications.contains(where: { $0.settings.type == .confidential }) else { return applications }
        let secrets = try clientSecrets(of: tenantId)
        return applications.map { application in
            var application = application
            application.secrets = secrets[application.id] ?? []
            return application
        }
    }

    package func countApplications(of tenantId: String) throws -> Int64 {
        try queryOne("SELECT COUNT(*) FROM application WHERE tenant_id = $1", tenantId) { $0.int(0) } ?? 0
    }

    /// Adds or replaces an application.
    package func put(_ application: ApplicationRecord) throws {
        try execute(
            """
            INSERT INTO application (id, tenant_id, client_id, settings, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (tenant_id, client_id) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at
            """, application.id, application.tenantId, application.clientId, JSONValue.object(application.stored).text,
            application.createdAt, application.updatedAt)
    }

    /// Deletes an application and its sessions. Returns the number of sessions.
    func delete(_ application: ApplicationRecord) throws -> Int {
        try execute("DELETE FROM application WHERE id = $1", application.id)
        return application.isDefault ? 0 : try execute("DELETE FROM session WHERE application_id = $1", application.id)
    }

    /// Deletes all applications of a tenant.
    func deleteApplications(of tenantId: String) throws { try execute("DELETE FROM application WHERE tenant_id = $1", tenantId) }
}

extension ApplicationRecord {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: row.string(0), settings: try ApplicationPut.Params(decoding: JSONText(row.string(1)).root), createdAt: row.int(2),
            updatedAt: row.int(3))
    }
}
