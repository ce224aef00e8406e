import JSON
import Storage

/// The table of what only another product's API knows, such as the action codes and the settings of a Firebase project.
package enum VendorTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE vendor_record (
            scope TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, position BIGINT NOT NULL,
            PRIMARY KEY (scope, kind, id))
        """
    ]
}

extension Transaction {
    func vendorRecord(_ scope: String, _ kind: String, _ id: String) throws -> JSONObject? {
        try queryOne("SELECT value FROM vendor_record WHERE scope = $1 AND kind = $2 AND id = $3", scope, kind, id) { $0.string(0) }
            .flatMap { (try? JSONValue(parsing: $0))?.object }
    }

    /// Returns the records of a kind, oldest first.
    func vendorRecords(_ scope: String, _ kind: String) throws -> [(id: String, value: JSONObject)] {
        try query(
            "SELECT id, value FROM vendor_record WHERE scope = $1 AND kind = $2 ORDER BY position, id", scope, kind
        ) { ($0.string(0), (try? JSONValue(parsing: $0.string(1)))?.object ?? [:]) }
    }

    /// Adds or replaces a record.
    func setVendorRecord(_ scope: String, _ kind: String, _ id: String, value: JSONObject) throws {
        try execute(
            """
            INSERT INTO vendor_record (scope, kind, id, value, position)
            VALUES ($1, $2, $3, $4, (SELECT COALESCE(MAX(r.position), 0) + 1 FROM vendor_record r WHERE r.scope = $1 AND r.kind = $2))
            ON CONFLICT (scope, kind, id) DO UPDATE SET value = excluded.value
            """, scope, kind, id, JSONValue.object(value).text)
    }

    /// Deletes some of the oldest records that expired more than a day ago. Called before a record is added, so that they do not pile up.
    func deleteExpiredVendorRecords(_ scope: String, _ kind: String, at now: Int64) throws {
        let oldest = try query(
            "SELECT id, value FROM vendor_record WHERE scope = $1 AND kind = $2 ORDER BY position LIMIT 20", scope, kind
        ) { ($0.string(0), (try? JSONValue(parsing: $0.string(1)))?["expiresAt"]?.int) }
        for (id, expiresAt) in oldest where expiresAt.map({ $0 < now - 86_400 }) ?? false {
            _ = try deleteVendorRecord(scope, kind, id)
        }
    }

    /// Deletes a record. Returns `false` if it does not exist.
    @discardableResult
    func deleteVendorRecord(_ scope: String, _ kind: String, _ id: String) throws -> Bool {
        try execute("DELETE FROM vendor_record WHERE scope = $1 AND kind = $2 AND id = $3", scope, kind, id) == 1
    }
}
