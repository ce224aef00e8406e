import Accounts
import Contract
import IdentityPools
import JSON
import ServiceContext
import Storage

extension ApplyService {
    private static let pageSize = 200

    /// Returns the configuration of the store as a document for `system.apply`, without secrets.
    public func export() throws -> SystemExport.Result {
        try context.database.read { tx in
            var (tenants, idps, applications): ([EncodedObject], [EncodedObject], [EncodedObject]) = ([], [], [])
            var hooks: [EncodedObject] = []
            try Self.pages({ try tx.tenants(after: $0, limit: Self.pageSize) }, place: \.id) { tenant in
                // The default tenant exists without a stored row; then there is nothing to declare.
                if tenant.createdAt > 0 || tenant.updatedAt > 0 { tenants.append(EncodedObject(tenant.declaration)) }
                if let declared = try HooksService.declaration(of: tenant.id, in: tx) { hooks.append(EncodedObject(declared)) }
                try Self.pages({ try tx.idps(of: tenant.id, after: $0, limit: Self.pageSize) }, place: \.providerId) { idp in
                    idps.append(EncodedObject(idp.settings.stored))
                }
                try Self.pages({ try tx.applications(of: tenant.id, after: $0, limit: Self.pageSize) }, place: \.clientId) {
                    applications.append(EncodedObject($0.stored))
                }
            }
            var (pools, roles): ([EncodedObject], [EncodedObject]) = ([], [])
            try Self.pages({ try tx.pools(after: $0, limit: Self.pageSize) }, place: \.poolId) { summary in
                guard let pool = try tx.pool(summary.poolId) else { return }
                pools.append(EncodedObject(pool.declaration(roles: try tx.poolRoles(pool.id), in: context.realm)))
            }
            try Self.pages({ try tx.roles(after: $0, limit: Self.pageSize) }, place: \.name) { roles.append(EncodedObject($0.declaration)) }
            let issuers = try tx.trustedIssuers(after: "", limit: TrustedIssuerRecord.maximumCount).map { EncodedObject($0.settings.json) }
            return SystemExport.Result(
                tenants: tenants, idps: idps, applications: applications.isEmpty ? nil : applications,
                hooks: hooks.isEmpty ? nil : hooks, pools: pools, roles: roles, issuers: issuers)
        }
    }

    private static func pages<Element>(
        _ page: (_ after: String) throws -> [Element], place: (Element) -> String, _ take: (Element) throws -> Void
    ) throws {
        var after = ""
        while true {
            let found = try page(after)
            for each in found { try take(each) }
            guard found.count == pageSize, let last = found.last else { return }
            after = place(last)
        }
    }
}

extension TenantRecord {
    /// The tenant as `TenantDeclaration`, without secrets.
    fileprivate var declaration: JSONObject {
        var object = storedSettings
        if let delivery = settings.delivery {
            var writer = JSONWriter(reservingCapacity: 1024)
            delivery.shown.write(to: &writer)
            object["delivery"] = try? JSONValue(parsing: writer.bytes)
        }
        return object
    }
}

extension PoolRecord {
    /// The pool as `PoolDeclaration`.
    fileprivate func declaration(roles: [String: String], in realm: Deployment) -> JSONObject {
        var object: JSONObject = [
            "poolId": .string(id), "name": .string(name), "allowUnauthenticated": .bool(allowUnauthenticated),
            "allowClassicFlow": .bool(allowClassicFlow), "signingAlgorithm": .string(signingAlgorithm),
        ]
        object["developerProvider"] = developerProvider.map { .string($0) }
        if !providers.isEmpty { object["providers"] = .array((providers.json.array ?? []).map(Self.settings)) }
        if !tags.isEmpty { object["tags"] = .object(tags) }
        if !roles.isEmpty {
            object["roles"] = .object(
                JSONObject(pairs: roles.sorted { $0.key < $1.key }.map { ($0.key, .string(realm.arn(ofRole: $0.value))) }))
        }
        if !roleMappings.isEmpty {
            object["mappings"] = .object(JSONObject(pairs: orderedRoleMappings.map { ($0.key, Self.value(of: $0.value)) }))
        }
        let maps = providers.compactMap { provider in tagMaps[provider.name].map { (provider.name, JSONValue.object($0.declaration)) } }
        if !maps.isEmpty { object["principalTags"] = .object(JSONObject(pairs: maps)) }
        return object
    }

    /// Returns a stored provider as `PoolProviderSettings`. That of a tenant is stored with its issuer.
    private static func settings(_ stored: JSONValue) -> JSONValue {
        guard var object = stored.object, object["tenantId"] != nil else { return stored }
        for derived in ["issuer", "name"] { object[derived] = nil }
        return .object(object)
    }

    private static func value(of mapping: RoleMapping) -> JSONValue {
        var writer = JSONWriter(reservingCapacity: 256)
        mapping.write(to: &writer)
        return (try? JSONValue(parsing: writer.bytes)) ?? .null
    }
}

extension PrincipalTagMaps.Map {
    /// The mapping as `TagMapDeclaration`.
    fileprivate var declaration: JSONObject {
        usesDefaults
            ? ["useDefaults": .bool(true)] : ["principalTags": .object(JSONObject(pairs: tags.map { ($0.key, .string($0.claim)) }))]
    }
}

extension RoleRecord {
    /// The role as `RoleDeclaration`.
    fileprivate var declaration: JSONObject {
        var object: JSONObject = [
            "name": .string(name), "trustPolicy": (try? JSONValue(parsing: Array(trustPolicy.utf8))) ?? .null,
            "maxSessionSeconds": .number(JSONNumber(maxSessionSeconds)),
        ]
        if !tags.isEmpty { object["tags"] = .object(tags) }
        object["description"] = description.map { .string($0) }
        return object
    }
}

extension JSONObject {
    fileprivate init(pairs: [(String, JSONValue)]) {
        self.init()
        for (name, value) in pairs { self[name] = value }
    }
}
