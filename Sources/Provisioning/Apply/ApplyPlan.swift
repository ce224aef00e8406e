import Accounts
import Contract
import IdentityPools
import JSON
import ServiceContext
import Storage

/// The changes that make the store match a document, computed only from the two.
struct ApplyPlan {
    let tenants: [PlannedTenant]
    let idps: [PlannedIdp]
    let applications: [PlannedApplication]
    let pools: [PlannedPool]
    let issuers: [PlannedIssuer]
    let roles: [PlannedRole]
    let hooks: [PlannedHooksEntry]

    /// - Throws: `InvalidParams` with all violations of the document.
    init(
        _ request: SystemApply.Params, _ fresh: FreshParts, realm: Deployment, vault: Vault, allowsPlainLoopback: Bool, at now: Int64,
        in tx: Transaction
    ) throws {
        let declaredPools = request.pools ?? []
        let declaredRoles = request.roles ?? []
        var problems = ApplyProblems()
        var tenantIds: Set<String> = []
        tenants = try (request.tenants ?? []).enumerated().compactMap { place, declaration in
            let id = declaration.tenantId
            guard tenantIds.insert(id).inserted else {
                problems.add("/tenants/\(place)/tenantId", rule: "duplicate", "Tenant \(id) occurs twice in the document.")
                return nil
            }
            let planned = try PlannedTenant(
                declaration, delivery: fresh.deliveries[place], at: place, existing: tx.tenant(id), now: now, vault, &problems)
            if let planned, let before = planned.before {
                do { try TenantRules.check(changeOf: before, to: planned.after.settings, in: tx) } catch let error as InvalidTenantSettings
                {
                    problems.add(
                        "/tenants/\(place)" + error.pointer, rule: InvalidTenantSettings.type,
                        "The setting is not valid: \(error.reason).")
                    return nil
                }
            }
            return planned
        }
        let isTenant: (String) throws -> Bool = { id in try tenantIds.contains(id) || tx.tenant(id) != nil }
        var idpNames: Set<[String]> = []
        idps = try (request.idps ?? []).enumerated().compactMap { place, declaration in
            guard idpNames.insert([declaration.tenantId, declaration.providerId]).inserted else {
                problems.add(
                    "/idps/\(place)/providerId", rule: "duplicate",
                    "Identity provider \(declaration.providerId) of tenant \(declaration.tenantId) occurs twice in the document.")
                return nil
            }
            guard try isTenant(declaration.tenantId) else {
                problems.add(
                    "/idps/\(place)/tenantId", rule: TenantNotFound.type, TenantNotFound(tenantId: declaration.tenantId).message)
                return nil
            }
            return try PlannedIdp(
                declaration, at: place, existing: try tx.idp(declaration.providerId, of: declaration.tenantId), fresh.secrets[place], vault,
                now: now, allowsPlainLoopback: allowsPlainLoopback, &problems)
        }
        applications = try PlannedApplication.all(
            request.applications ?? [], fresh.applicationIds, tenants: tenants, now: now, in: tx, &problems)
        let found = try PoolsOfDocument(declaredPools, fresh.poolIds, in: tx, &problems)
        let roleNames = Set(declaredRoles.map(\.name))
        let isRole: (String) throws -> Bool = { name in try roleNames.contains(name) || tx.role(name) != nil }
        let poolFacts = PlannedPool.Facts(
            realm: realm, now: now, allowsPlainLoopback: allowsPlainLoopback, isRole: isRole, isTenant: isTenant)
        pools = try declaredPools.enumerated().compactMap { place, declaration in
            guard let id = found.ids[place] else { return nil }
            let existing = try tx.pool(id).map { (pool: $0, roles: try tx.poolRoles($0.id)) }
            return try PlannedPool(declaration, at: place, id: id, existing: existing, poolFacts, &problems)
        }
        let facts = PlannedIssuer.Facts(realm: realm, allowsPlainLoopback: allowsPlainLoopback, now: now, isTenant: isTenant)
        var issuerNames: Set<String> = []
        issuers = try (request.issuers ?? []).enumerated().compactMap { place, declaration in
            guard let issuer = try PlannedIssuer(declaration, at: place, facts, in: tx, &problems) else { return nil }
            guard issuerNames.insert(issuer.after.name).inserted else {
                problems.add("/issuers/\(place)", rule: "duplicate", "Issuer \(issuer.after.name) occurs twice in the document.")
                return nil
            }
            return issuer
        }
        let declaredIssuers = Dictionary(issuers.map { ($0.after.name, $0.after.settings) }, uniquingKeysWith: { first, _ in first })
        let review = TrustPolicyReview(realm) { name in try declaredIssuers[name] ?? tx.trustedIssuer(name)?.settings }
        var seen: Set<String> = []
        roles = try declaredRoles.enumerated().compactMap { place, declaration in
            guard seen.insert(declaration.name).inserted else {
                problems.add("/roles/\(place)/name", rule: "duplicate", "Role \(declaration.name) occurs twice in the document.")
                return nil
            }
            return try PlannedRole(
                declaration, at: place, newId: fresh.roleIds[place], existing: try tx.role(declaration.name), pools: found, now: now,
                review: review, in: tx, &problems)
        }
        hooks = try PlannedHooksEntry.all(request.hooks ?? [], fresh.hooks, isTenant: isTenant, in: tx, &problems)
        if !problems.violations.isEmpty { throw InvalidParams(violations: problems.violations) }
    }

    /// Whether there are changes to write.
    var writes: Bool {
        tenants.contains(where: \.writes) || idps.contains(where: \.writes) || applications.contains(where: \.writes)
            || pools.contains(where: \.writes)
            || roles.contains(where: \.writes) || issuers.contains(where: \.writes) || hooks.contains(where: \.writes)
    }

    /// - Throws: `KeyNeeded` if `keys` contains no key for a new tenant or pool.
    func write(
        _ keys: ApplyKeys, by call: any CallContext, audit: AuditLog, realm: Deployment, at now: Int64, in tx: Transaction
    ) throws {
        guard writes else { return }
        try tx.advanceEpoch()
        func record(
            _ difference: Difference, poolId: String? = nil, subject: String? = nil, tenantId: String? = nil, providerId: String? = nil,
            clientId: String? = nil
        ) throws {
            var details: JSONObject = [
                "change": .string(difference.change.rawValue), "changed": .array(difference.changed.map { .string($0) }),
            ]
            if let tenantId { details["tenantId"] = .string(tenantId) }
            if let clientId { details["clientId"] = .string(clientId) }
            if let providerId { details["providerId"] = .string(providerId) }
            try audit.record(
                AuditEvent(method: SystemApply.info.name, by: call, poolId: poolId, subject: subject, details: details), at: now, in: tx
            )
        }
        for tenant in tenants where tenant.writes {
            try tenant.write(keys.tenants[tenant.place], at: now, in: tx)
            try record(tenant.difference, tenantId: tenant.after.id)
        }
        for idp in idps where idp.writes {
            try idp.write(in: tx)
            try record(idp.difference, tenantId: idp.after.tenantId, providerId: idp.after.providerId)
        }
        for application in applications where application.writes {
            try tx.put(application.after)
            try record(application.difference, tenantId: application.after.tenantId, clientId: application.after.clientId)
        }
        for pool in pools where pool.writes {
            try pool.write(keys.pools[pool.place], at: now, in: tx)
            try record(pool.difference, poolId: pool.after.id)
        }
        for issuer in issuers where issuer.writes {
            _ = try tx.put(issuer.after)
            try record(issuer.difference, subject: realm.arn(ofOpenIDProvider: issuer.after.name))
        }
        for role in roles where role.writes {
            _ = try tx.put(role.after)
            try record(role.difference, poolId: role.poolId, subject: realm.arn(ofRole: role.after.name))
        }
        for entry in hooks where entry.writes {
            try entry.hooks.write(at: now, in: tx)
            try record(entry.difference, tenantId: entry.hooks.tenantId)
        }
    }

    /// Returns the changes that were made, or that a dry run would make.
    func changes(_ realm: Deployment, _ request: SystemApply.Params) -> [AppliedChange] {
        let ofTenants = tenants.map { tenant in
            AppliedChange(
                pointer: "/tenants/\(tenant.place)", kind: .tenant, name: tenant.after.id, tenantId: tenant.after.id,
                change: tenant.difference.change, changed: tenant.difference.changed)
        }
        let ofIdps = idps.map { idp in
            AppliedChange(
                pointer: "/idps/\(idp.place)", kind: .idp, name: idp.after.providerId, tenantId: idp.after.tenantId,
                change: idp.difference.change, changed: idp.difference.changed)
        }
        let ofPools = pools.map { pool in
            let isKnown = !request.dryRun || pool.before != nil || request.pools?[pool.place].poolId != nil
            return AppliedChange(
                pointer: "/pools/\(pool.place)", kind: .pool, name: pool.after.name, poolId: isKnown ? pool.after.id : nil,
                change: pool.difference.change, changed: pool.difference.changed)
        }
        let ofRoles = roles.map { role in
            AppliedChange(
                pointer: "/roles/\(role.place)", kind: .role, name: role.after.name, roleArn: realm.arn(ofRole: role.after.name),
                change: role.difference.change, changed: role.difference.changed)
        }
        let ofIssuers = issuers.map { issuer in
            AppliedChange(
                pointer: "/issuers/\(issuer.place)", kind: .issuer, name: issuer.after.name, change: issuer.difference.change,
                changed: issuer.difference.changed)
        }
        return ofTenants + ofIdps + applications.map(\.answer) + ofPools + ofIssuers + ofRoles + hooks.map(\.answer)
    }
}

/// The difference between a declaration and the stored state.
struct Difference {
    let change: AppliedChange.Change
    /// The names of the members that differ.
    let changed: [String]

    init(isNew: Bool, _ members: [(name: String, differs: Bool)]) {
        changed = isNew ? [] : members.filter(\.differs).map(\.name)
        change = isNew ? .created : changed.isEmpty ? .unchanged : .updated
    }
}
