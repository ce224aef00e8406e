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
    init(_ request: SystemApply.Params, _ fresh: FreshParts, _ facts: ApplyFacts) throws {
        let (realm, tx) = (facts.realm, facts.tx)
        let declaredPools = request.pools ?? []
        var problems = ApplyProblems()
        var tenantIds: Set<String> = []
        tenants = try Declared.all(request.tenants).compactMap { declared in
            let (place, id) = (declared.place, declared.declaration.tenantId)
            guard tenantIds.insert(id).inserted else {
                problems.add("/tenants/\(place)/tenantId", rule: "duplicate", "Tenant \(id) occurs twice in the document.")
                return nil
            }
            let planned = try PlannedTenant(declared, delivery: fresh.deliveries[place], existing: tx.tenant(id), facts, &problems)
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
        idps = try Declared.all(request.idps).compactMap { declared in
            let (place, declaration) = (declared.place, declared.declaration)
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
            let existing = try tx.idp(declaration.providerId, of: declaration.tenantId)
            return try PlannedIdp(declared, sealed: fresh.secrets[place], existing: existing, facts, &problems)
        }
        applications = try PlannedApplication.all(
            Declared.all(request.applications), newIds: fresh.applicationIds, of: tenants, facts, &problems)
        let found = try PoolsOfDocument(declaredPools, fresh.poolIds, in: tx, &problems)
        let roleNames = Set((request.roles ?? []).map(\.name))
        let isRole: (String) throws -> Bool = { name in try roleNames.contains(name) || tx.role(name) != nil }
        let poolReferences = PlannedPool.References(realm: realm, isRole: isRole, isTenant: isTenant)
        pools = try Declared.all(declaredPools).compactMap { declared in
            guard let id = found.ids[declared.place] else { return nil }
            return try PlannedPool(declared, id: id, against: poolReferences, facts, &problems)
        }
        var issuerNames: Set<String> = []
        issuers = try Declared.all(request.issuers).compactMap { declared in
            guard let issuer = try PlannedIssuer(declared, isTenant: isTenant, facts, &problems) else { return nil }
            guard issuerNames.insert(issuer.after.name).inserted else {
                problems.add("/issuers/\(declared.place)", rule: "duplicate", "Issuer \(issuer.after.name) occurs twice in the document.")
                return nil
            }
            return issuer
        }
        let declaredIssuers = Dictionary(issuers.map { ($0.after.name, $0.after.settings) }, uniquingKeysWith: { first, _ in first })
        let review = TrustPolicyReview(realm) { name in try declaredIssuers[name] ?? tx.trustedIssuer(name)?.settings }
        let roleReferences = PlannedRole.References(pools: found, review: review)
        var seen: Set<String> = []
        roles = try Declared.all(request.roles).compactMap { declared in
            let (place, name) = (declared.place, declared.declaration.name)
            guard seen.insert(name).inserted else {
                problems.add("/roles/\(place)/name", rule: "duplicate", "Role \(name) occurs twice in the document.")
                return nil
            }
            return try PlannedRole(declared, newId: fresh.roleIds[place], against: roleReferences, facts, &problems)
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

    /// - Parameter facts: The facts with which the plan was made.
    /// - Throws: `KeyNeeded` if `keys` contains no key for a new tenant or pool.
    func write(_ keys: ApplyKeys, by call: any CallContext, audit: AuditLog, _ facts: ApplyFacts) throws {
        guard writes else { return }
        let (realm, now, tx) = (facts.realm, facts.now, facts.tx)
        try tx.advanceEpoch()
        func record(_ difference: Difference, poolId: String? = nil, subject: String? = nil, ids: [(String, String)] = []) throws {
            var details: JSONObject = [
                "change": .string(difference.change.rawValue), "changed": .array(difference.changed.map { .string($0) }),
            ]
            for (name, id) in ids { details[name] = .string(id) }
            try audit.record(
                AuditEvent(method: SystemApply.info.name, by: call, poolId: poolId, subject: subject, details: details), at: now, in: tx
            )
        }
        for tenant in tenants where tenant.writes {
            try tenant.write(keys.tenants[tenant.place], at: now, in: tx)
            try record(tenant.difference, ids: [("tenantId", tenant.after.id)])
        }
        for idp in idps where idp.writes {
            try idp.write(in: tx)
            try record(idp.difference, ids: [("tenantId", idp.after.tenantId), ("providerId", idp.after.providerId)])
        }
        for application in applications where application.writes {
            try tx.put(application.after)
            try record(
                application.difference, ids: [("tenantId", application.after.tenantId), ("clientId", application.after.clientId)])
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
            try record(entry.difference, ids: [("tenantId", entry.hooks.tenantId)])
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
