import Contract
import Platform
import Storage

/// A secret of a confidential application. The store has only its HMAC.
package struct ClientSecretRecord: Sendable, Equatable {
    /// The maximum number of secrets of an application, which are valid at the same time while one replaces the other.
    static let most = 2

    let id: String
    let applicationId: String
    let mac: [UInt8]
    /// The last characters of the secret, by which an administrator recognizes it.
    let hint: String
    let createdAt: Int64

    var answer: ClientSecretInfo { ClientSecretInfo(secretId: id, hint: hint, createdAt: createdAt) }
}

/// The table of the secrets of applications.
package enum ClientSecretTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE application_secret (
            id TEXT PRIMARY KEY, application_id TEXT NOT NULL REFERENCES application (id) ON DELETE CASCADE, mac BYTEA NOT NULL,
            hint TEXT NOT NULL, created_at BIGINT NOT NULL)
        """,
        "CREATE INDEX application_secret_of_application ON application_secret (application_id, created_at, id)",
    ]
}

extension Transaction {
    /// Returns the secrets of all applications of a tenant, by the internal ID of the application.
    func clientSecrets(of tenantId: String) throws -> [String: [ClientSecretRecord]] {
        let found = try query(
            """
            SELECT s.id, s.application_id, s.mac, s.hint, s.created_at FROM application_secret s
            JOIN application a ON a.id = s.application_id WHERE a.tenant_id = $1 ORDER BY s.created_at, s.id
            """, tenantId, row: ClientSecretRecord.init)
        return Dictionary(grouping: found, by: \.applicationId)
    }

    func insert(_ secret: ClientSecretRecord) throws {
        try execute(
            "INSERT INTO application_secret (id, application_id, mac, hint, created_at) VALUES ($1, $2, $3, $4, $5)", secret.id,
            secret.applicationId, secret.mac, secret.hint, secret.createdAt)
    }

    func delete(_ secret: ClientSecretRecord) throws {
        try execute("DELETE FROM application_secret WHERE id = $1", secret.id)
    }
}

extension ClientSecretRecord {
    fileprivate init(_ row: Row) {
        self.init(id: row.string(0), applicationId: row.string(1), mac: row.bytes(2), hint: row.string(3), createdAt: row.int(4))
    }
}
