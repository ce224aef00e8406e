import Contract
import JSON
import Storage

/// The stored record of a pool. A class, because it is read for every token.
package final class PoolRecord: Sendable {
    package let id: String
    package let name: String
    package let allowUnauthenticated: Bool
    package let allowClassicFlow: Bool
    package let developerProvider: String?
    package let providers: [LoginProvider]
    package let signingAlgorithm: String
    package let tags: JSONObject
    package let createdAt: Int64
    let updatedAt: Int64
    /// The role mappings by provider.
    package let roleMappings: [String: RoleMapping]
    package let tagMaps: PrincipalTagMaps

    package init(
        id: String, name: String, allowUnauthenticated: Bool, allowClassicFlow: Bool, developerProvider: String?,
        providers: [LoginProvider], signingAlgorithm: String, tags: JSONObject, createdAt: Int64, updatedAt: Int64,
        roleMappings: [String: RoleMapping] = [:], tagMaps: PrincipalTagMaps = PrincipalTagMaps(stored: "{}")
    ) {
        self.id = id
        self.name = name
        self.allowUnauthenticated = allowUnauthenticated
        self.allowClassicFlow = allowClassicFlow
        self.developerProvider = developerProvider
        self.providers = providers
        self.signingAlgorithm = signingAlgorithm
        self.tags = tags
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.roleMappings = roleMappings
        self.tagMaps = tagMaps
    }

    /// The role mappings, ordered by the bytes of the provider names.
    package var orderedRoleMappings: [(key: String, value: RoleMapping)] {
        roleMappings.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Returns the developer provider after an update to `given`. Once set, it cannot be changed.
    ///
    /// - Throws: `DeveloperProviderFixed`.
    package func developerProvider(asking given: String?) throws -> String? {
        if let fixed = developerProvider, let given, given != fixed { throw DeveloperProviderFixed(poolId: id, developerProvider: fixed) }
        return given ?? developerProvider
    }

    /// Returns the public provider with this login provider name.
    func provider(named name: String) -> LoginProvider? { providers.first { $0.name == name } }
}

extension Transaction {
    package func pool(_ id: String) throws -> PoolRecord? {
        try queryOne(
            """
            SELECT
                id, name, allow_unauthenticated, allow_classic_flow, developer_provider, providers, signing_algorithm, tags, created_at,
                updated_at, role_mappings, tag_maps
            FROM pool WHERE id = $1
            """, id, row: PoolRecord.init)
    }

    /// Returns the IDs and names of pools, ordered by ID.
    package func pools(after id: String, limit: Int) throws -> [PoolSummary] {
        try query("SELECT id, name FROM pool WHERE id > $1 ORDER BY id LIMIT $2", id, limit) {
            PoolSummary(poolId: $0.string(0), name: $0.string(1))
        }
    }

    /// Adds a pool. Returns `false` if its ID already exists.
    package func insert(_ pool: PoolRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO pool (
                id, name, allow_unauthenticated, allow_classic_flow, developer_provider, providers, signing_algorithm, tags, created_at,
                updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING
            """,
            pool.id, pool.name, pool.allowUnauthenticated, pool.allowClassicFlow, pool.developerProvider, pool.providers.json.text,
            pool.signingAlgorithm, JSONValue.object(pool.tags).text, pool.createdAt, pool.updatedAt) == 1
    }

    /// Replaces the settings of a pool.
    package func update(_ pool: PoolRecord) throws {
        try execute(
            """
            UPDATE pool SET
                name = $2, allow_unauthenticated = $3, allow_classic_flow = $4, developer_provider = $5, providers = $6, tags = $7,
                updated_at = $8
            WHERE id = $1
            """,
            pool.id, pool.name, pool.allowUnauthenticated, pool.allowClassicFlow, pool.developerProvider, pool.providers.json.text,
            JSONValue.object(pool.tags).text, pool.updatedAt)
    }

    /// Deletes a pool with its identities, logins and roles. Returns `false` if it does not exist.
    func deletePool(_ id: String) throws -> Bool {
        try execute("DELETE FROM pool WHERE id = $1", id) == 1
    }

    /// Returns the role names of a pool by kind, `authenticated` or `unauthenticated`.
    package func poolRoles(_ poolId: String) throws -> [String: String] {
        let rows = try query("SELECT kind, role_name FROM pool_role WHERE pool_id = $1", poolId) { ($0.string(0), $0.string(1)) }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }

    /// Replaces the role mappings of a pool.
    package func setRoleMappings(_ mappings: Members<RoleMapping>, of poolId: String) throws {
        try execute("UPDATE pool SET role_mappings = $2 WHERE id = $1", poolId, RoleMappings.text(mappings))
    }

    package func setTagMaps(_ maps: PrincipalTagMaps, of poolId: String) throws {
        try execute("UPDATE pool SET tag_maps = $2 WHERE id = $1", poolId, maps.json.text)
    }

    /// Replaces the roles of a pool.
    package func setPoolRoles(_ poolId: String, _ roles: [String: String]) throws {
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
            developerProvider: row.optionalString(4), providers: [LoginProvider](stored: row.string(5)), signingAlgorithm: row.string(6),
            tags: (try? JSONValue(parsing: row.string(7)))?.object ?? [:], createdAt: row.int(8), updatedAt: row.int(9),
            roleMappings: RoleMappings.read(row.string(10)), tagMaps: PrincipalTagMaps(stored: row.string(11)))
    }
}

/// The stored format of role mappings, which is that of the contract.
package enum RoleMappings {
    static func text(_ mappings: Members<RoleMapping>) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        for mapping in mappings {
            writer.key(mapping.name)
            mapping.value.write(to: &writer)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Checks a role mapping of a provider.
    ///
    /// - Throws: `InvalidRoleMapping`.
    package static func check(_ mapping: RoleMapping, of provider: String, among providers: [LoginProvider]) throws {
        guard providers.contains(where: { $0.mappingKeys.contains(provider) }) else {
            let hint = UserPool.isName(provider) ? " A user pool is named together with an app client: \(provider):<clientId>." : ""
            throw InvalidRoleMapping(
                provider: provider, reason: "it is not a valid RoleMapping ProviderName or is not a configured provider.\(hint)")
        }
        switch (mapping.source, mapping.rules) {
        case (.rules, nil): throw InvalidRoleMapping(provider: provider, reason: "source rules requires rules.")
        case (.token, .some):
            throw InvalidRoleMapping(provider: provider, reason: "rules are not allowed with source token. Omit them.")
        case (.rules, .some), (.token, nil): break
        }
        for rule in mapping.rules ?? [] where !isClaimName(rule.claim) {
            throw InvalidRoleMapping(
                provider: provider, reason: "the name of a claim can contain only letters, marks, symbols, numbers and punctuation.")
        }
    }

    /// Returns whether the name of a claim contains only letters, marks, symbols, numbers and punctuation.
    private static func isClaimName(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
    }

    static func read(_ text: String) -> [String: RoleMapping] {
        var mappings: [String: RoleMapping] = [:]
        (try? JSONText(text).root)?.forEachMember { name, node in mappings[name] = try? RoleMapping(decoding: node) }
        return mappings
    }
}
