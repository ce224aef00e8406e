import Crypto
import JSON
import Platform
import Storage

/// The stored record of a role.
package struct RoleRecord: Sendable {
    package let name: String
    /// The unique ID, which begins with `AROA`. A role that is created again under the same name has another ID.
    package let roleId: String
    package let trustPolicy: String
    package let maxSessionSeconds: Int64
    package let tags: JSONObject
    package let description: String?
    package let createdAt: Int64
    package let updatedAt: Int64

    package init(
        name: String, roleId: String, trustPolicy: String, maxSessionSeconds: Int64, tags: JSONObject, description: String? = nil,
        createdAt: Int64, updatedAt: Int64
    ) {
        self.description = description
        self.name = name
        self.roleId = roleId
        self.trustPolicy = trustPolicy
        self.maxSessionSeconds = maxSessionSeconds
        self.tags = tags
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

extension Transaction {
    package func role(_ name: String) throws -> RoleRecord? {
        try queryOne(
            """
            SELECT name, role_id, trust_policy, max_session_seconds, tags, created_at, updated_at, description FROM role WHERE name = $1
            """, name,
            row: RoleRecord.init)
    }

    package func roles(after name: String, limit: Int) throws -> [RoleRecord] {
        try query(
            """
            SELECT name, role_id, trust_policy, max_session_seconds, tags, created_at, updated_at, description FROM role
            WHERE name > $1 ORDER BY name LIMIT $2
            """, name, limit, row: RoleRecord.init)
    }

    /// Creates or replaces a role, and returns the stored record. An existing role keeps its ID and creation time.
    package func put(_ role: RoleRecord) throws -> RoleRecord {
        try execute(
            """
            INSERT INTO role (name, role_id, trust_policy, max_session_seconds, tags, created_at, updated_at, description)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (name) DO UPDATE SET trust_policy = excluded.trust_policy,
                max_session_seconds = excluded.max_session_seconds, tags = excluded.tags, updated_at = excluded.updated_at,
                description = excluded.description
            """,
            role.name, role.roleId, role.trustPolicy, role.maxSessionSeconds, JSONValue.object(role.tags).text, role.createdAt,
            role.updatedAt, role.description)
        try advanceEpoch()
        return try self.role(role.name) ?? role
    }

    /// Deletes a role. Returns `false` if it does not exist.
    func deleteRole(_ name: String) throws -> Bool {
        guard try execute("DELETE FROM role WHERE name = $1", name) == 1 else { return false }
        try execute("DELETE FROM role_policy WHERE role_name = $1", name)
        try advanceEpoch()
        return true
    }
}

extension RoleRecord {
    /// Returns a new unique role ID.
    package static func newId(_ random: any RandomSource) -> String { "AROA" + Base32.encode(random.bytes(10)) }

    init(_ row: Row) {
        self.init(
            name: row.string(0), roleId: row.string(1), trustPolicy: row.string(2), maxSessionSeconds: row.int(3),
            tags: (try? JSONValue(parsing: row.string(4)))?.object ?? [:], description: row.optionalString(7), createdAt: row.int(5),
            updatedAt: row.int(6))
    }
}
