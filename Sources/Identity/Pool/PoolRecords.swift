import JSON
import Storage

/// A pool as the store holds it (cognito.md 1.2). A class: it is looked up for every token.
final class PoolRecord: Sendable {
    let id: String
    let name: String
    let allowUnauthenticated: Bool
    let allowClassicFlow: Bool
    let developerProvider: String?
    let signingAlgorithm: String
    let tags: JSONObject
    let createdAt: Int64
    let updatedAt: Int64

    init(
        id: String, name: String, allowUnauthenticated: Bool, allowClassicFlow: Bool, developerProvider: String?, signingAlgorithm: String,
        tags: JSONObject, createdAt: Int64, updatedAt: Int64
    ) {
        self.id = id
        self.name = name
        self.allowUnauthenticated = allowUnauthenticated
        self.allowClassicFlow = allowClassicFlow
        self.developerProvider = developerProvider
        self.signingAlgorithm = signingAlgorithm
        self.tags = tags
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

extension Transaction {
    func pool(_ id: String) throws -> PoolRecord? {
        try queryOne(
            """
            SELECT id, name, allow_unauthenticated, allow_classic_flow, developer_provider, signing_algorithm, tags, created_at, updated_at
            FROM pool WHERE id = $1
            """, id, row: PoolRecord.init)
    }

    func pools(after id: String, limit: Int) throws -> [PoolRecord] {
        try query(
            """
            SELECT id, name, allow_unauthenticated, allow_classic_flow, developer_provider, signing_algorithm, tags, created_at, updated_at
            FROM pool WHERE id > $1 ORDER BY id LIMIT $2
            """, id, limit, row: PoolRecord.init)
    }

    /// Adds a pool. Answers false if its id is taken.
    func insert(_ pool: PoolRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO pool (
                id, name, allow_unauthenticated, allow_classic_flow, developer_provider, signing_algorithm, tags, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING
            """,
            pool.id, pool.name, pool.allowUnauthenticated, pool.allowClassicFlow, pool.developerProvider, pool.signingAlgorithm,
            JSONValue.object(pool.tags).text, pool.createdAt, pool.updatedAt) == 1
    }

    /// Removes a pool with its identities, logins and roles. Answers false if there is none.
    func deletePool(_ id: String) throws -> Bool {
        try execute("DELETE FROM pool WHERE id = $1", id) == 1
    }

    /// The role names of a pool by kind, `authenticated` or `unauthenticated`.
    func poolRoles(_ poolId: String) throws -> [String: String] {
        let rows = try query("SELECT kind, role_name FROM pool_role WHERE pool_id = $1", poolId) { ($0.string(0), $0.string(1)) }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }

    /// Replaces the roles of a pool.
    func setPoolRoles(_ poolId: String, _ roles: [String: String]) throws {
        try execute("DELETE FROM pool_role WHERE pool_id = $1", poolId)
        for (kind, role) in roles.sorted(by: { $0.key < $1.key }) {
            try execute("INSERT INTO pool_role (pool_id, kind, role_name) VALUES ($1, $2, $3)", poolId, kind, role)
        }
    }
}

extension PoolRecord {
    convenience init(_ row: Row) {
        self.init(
            id: row.string(0), name: row.string(1), allowUnauthenticated: row.bool(2), allowClassicFlow: row.bool(3),
            developerProvider: row.optionalString(4), signingAlgorithm: row.string(5),
            tags: (try? JSONValue(parsing: row.string(6)))?.object ?? [:], createdAt: row.int(7), updatedAt: row.int(8))
    }
}
