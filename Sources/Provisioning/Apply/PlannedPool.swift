import Contract
import IdentityPools
import JSON
import ServiceContext
import SigningKeys
import Storage

/// A declared pool with its stored state.
struct PlannedPool {
    let place: Int
    let before: PoolRecord?
    let after: PoolRecord
    /// The role names by kind.
    let roles: [String: String]
    let mappings: Members<RoleMapping>
    let difference: Difference

    var writes: Bool { difference.change != .unchanged }

    /// The facts against which a pool is checked.
    struct References {
        let realm: Deployment
        /// Returns whether a role with this name exists or is declared.
        let isRole: (String) throws -> Bool
        /// Returns whether a tenant with this ID exists or is declared.
        let isTenant: (String) throws -> Bool

        fileprivate func roleName(_ arn: String) throws -> String {
            guard let name = realm.roleName(of: arn), try isRole(name) else { throw RoleNotFound(role: arn) }
            return name
        }
    }

    /// - Returns: `nil` if the providers are not valid. A violation is then added.
    init?(
        _ declared: Declared<PoolDeclaration>, id: String, against references: References, _ facts: ApplyFacts,
        _ problems: inout ApplyProblems
    ) throws {
        let (place, declaration) = (declared.place, declared.declaration)
        let stored = try facts.tx.pool(id).map { (pool: $0, roles: try facts.tx.poolRoles($0.id)) }
        let existing = stored?.pool
        let pointer = "/pools/\(place)"
        let developerProvider = try problems.attempt(pointer + "/developerProvider") {
            try existing.map { try $0.developerProvider(asking: declaration.developerProvider) } ?? declaration.developerProvider
        }
        let providers = try problems.attempt(pointer + "/providers") {
            try [LoginProvider](
                declaration.providers ?? [], developerProvider: developerProvider ?? nil, in: facts.realm,
                allowsPlainLoopback: facts.allowsPlainLoopback)
        }
        if let existing, let given = declaration.signingAlgorithm?.rawValue, given != existing.signingAlgorithm {
            problems.add(
                pointer + "/signingAlgorithm", rule: "signingAlgorithmFixed",
                "The pool signs with \(existing.signingAlgorithm). To change the algorithm, call key.rotate.")
        }
        for violation in ResourceTags.violations(declaration.tags, at: pointer + "/tags") {
            problems.add(violation.pointer, rule: violation.rule, violation.message)
        }
        guard let providers else { return nil }
        for (index, provider) in providers.enumerated() {
            guard let tenantId = provider.tenantId else { continue }
            _ = try problems.attempt("\(pointer)/providers/\(index)/tenantId") {
                guard try references.isTenant(tenantId) else { throw TenantNotFound(tenantId: tenantId) }
            }
        }
        let tagMaps = try Self.tagMaps(
            declaration.principalTags, existing?.tagMaps, providers.map(\.name), pointer: pointer, problems: &problems)
        let setsRoles = declaration.roles != nil || declaration.mappings != nil
        roles = setsRoles ? try Self.roles(declaration.roles, at: pointer, references, &problems) : stored?.roles ?? [:]
        let mappings = declaration.mappings ?? [:]
        for mapping in mappings { try Self.check(mapping, among: providers, at: pointer, references, &problems) }
        self.place = place
        self.mappings = setsRoles ? mappings : existing.map { Members($0.orderedRoleMappings.map { ($0.key, $0.value) }) } ?? [:]
        before = existing
        after = PoolRecord(
            id: id, name: declaration.name, allowUnauthenticated: declaration.allowUnauthenticated,
            allowClassicFlow: declaration.allowClassicFlow, developerProvider: developerProvider ?? nil, providers: providers,
            signingAlgorithm: existing?.signingAlgorithm ?? declaration.signingAlgorithm?.rawValue ?? "ES256",
            tags: declaration.tags?.object ?? [:], createdAt: existing?.createdAt ?? facts.now, updatedAt: facts.now,
            roleMappings: Dictionary(self.mappings.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }), tagMaps: tagMaps)
        difference = Self.difference(from: stored, to: (after, roles))
    }

    private static func difference(
        from stored: (pool: PoolRecord, roles: [String: String])?, to new: (pool: PoolRecord, roles: [String: String])
    ) -> Difference {
        let (before, after) = (stored?.pool, new.pool)
        return Difference(
            isNew: before == nil,
            [
                ("name", before?.name != after.name), ("allowUnauthenticated", before?.allowUnauthenticated != after.allowUnauthenticated),
                ("allowClassicFlow", before?.allowClassicFlow != after.allowClassicFlow),
                ("developerProvider", before?.developerProvider != after.developerProvider),
                ("providers", before?.providers.json != after.providers.json), ("tags", before?.tags != after.tags),
                ("roles", stored?.roles ?? [:] != new.roles), ("mappings", before?.roleMappings != after.roleMappings),
                ("principalTags", before?.tagMaps.json != after.tagMaps.json),
            ])
    }

    // MARK: Rules

    private static func tagMaps(
        _ declared: Members<TagMapDeclaration>?, _ existing: PrincipalTagMaps?, _ providers: [String], pointer: String,
        problems: inout ApplyProblems
    ) throws -> PrincipalTagMaps {
        guard let declared else { return existing?.only(providers) ?? PrincipalTagMaps(stored: "{}") }
        var maps = PrincipalTagMaps(stored: "{}")
        for member in declared {
            let place = pointer + PolicyReader.pointer(["principalTags", member.name])
            guard providers.contains(member.name) else {
                problems.add(
                    place, rule: UnsupportedLoginProvider.type, "\(member.name) is not one of the providers that the pool declares.")
                continue
            }
            maps[member.name] =
                try problems.attempt(place) { () -> PrincipalTagMaps.Map? in
                    let map = try PrincipalTagMaps.Map(usesDefaults: member.value.useDefaults, claims: member.value.principalTags)
                    return map.tags.isEmpty ? nil : map
                } ?? nil
        }
        return maps
    }

    private static func roles(
        _ declared: RolesByKind?, at pointer: String, _ references: References, _ problems: inout ApplyProblems
    ) throws -> [String: String] {
        var roles: [String: String] = [:]
        for (kind, arn) in [("authenticated", declared?.authenticated), ("unauthenticated", declared?.unauthenticated)] {
            guard let arn else { continue }
            roles[kind] = try problems.attempt("\(pointer)/roles/\(kind)") { try references.roleName(arn) }
        }
        return roles
    }

    private static func check(
        _ mapping: Members<RoleMapping>.Member, among providers: [LoginProvider], at pointer: String, _ references: References,
        _ problems: inout ApplyProblems
    ) throws {
        let place = pointer + PolicyReader.pointer(["mappings", mapping.name])
        _ = try problems.attempt(place) { try RoleMappings.check(mapping.value, of: mapping.name, among: providers) }
        for (index, rule) in (mapping.value.rules ?? []).enumerated() {
            _ = try problems.attempt("\(place)/rules/\(index)/roleArn") { try references.roleName(rule.roleArn) }
        }
    }
}

extension PlannedPool {
    /// - Parameter key: The signing key of a new pool.
    /// - Throws: `KeyNeeded` if the pool is new and `key` is `nil`.
    func write(_ key: NewSigningKey?, at now: Int64, in tx: Transaction) throws {
        if before == nil {
            guard let key else { throw KeyNeeded() }
            guard try tx.insert(after) else { throw SerializationConflict() }
            try tx.insert(key, at: now)
        } else {
            try tx.update(after)
        }
        try tx.setPoolRoles(after.id, roles)
        try tx.setRoleMappings(mappings, of: after.id)
        try tx.setTagMaps(after.tagMaps, of: after.id)
    }
}
