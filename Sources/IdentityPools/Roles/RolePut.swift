import Contract
import ServiceContext
import Storage

extension RoleService {
    /// Creates or replaces a role, with a given trust policy or the standard one for a pool.
    ///
    /// - Throws: `PoolNotFound`, `MalformedPolicy`; `InvalidParams` if a tag contains characters that are not allowed.
    public func put(_ request: RolePut.Params, _ call: any CallContext) throws -> RolePut.Result {
        guard let (role, warnings) = try put(request, call, onlyIfNew: false) else { throw RoleNotFound(role: request.name) }
        return answer(role, warnings)
    }

    /// - Returns: The role, or `nil` if it exists and `onlyIfNew` is true.
    func put(
        _ request: RolePut.Params, _ call: any CallContext, onlyIfNew: Bool
    ) throws -> (role: RoleRecord, warnings: [PolicyWarning])? {
        let now = context.clock.now
        try ResourceTags.check(request.tags)
        let roleId = RoleRecord.newId(context.random)
        return try context.database.write { tx in
            if onlyIfNew, try tx.role(request.name) != nil { return nil }
            let (trustPolicy, poolId, warnings) = try trust(request.trust, allowsUnknownIssuers: request.allowUnknownIssuer, in: tx)
            if let poolId, try tx.pool(poolId) == nil { throw PoolNotFound(poolId: poolId) }
            let stored = try tx.put(
                RoleRecord(
                    name: request.name, roleId: roleId, trustPolicy: trustPolicy, maxSessionSeconds: request.maxSessionSeconds,
                    tags: request.tags?.object ?? [:], description: request.description, createdAt: now, updatedAt: now))
            try context.audit.record(
                AuditEvent(
                    method: RolePut.info.name, by: call, poolId: poolId, subject: context.realm.arn(ofRole: request.name)),
                at: now, in: tx)
            return (stored, warnings)
        }
    }

    private func trust(
        _ trust: RolePut.Params.Trust, allowsUnknownIssuers: Bool, in tx: Transaction
    ) throws -> (policy: String, poolId: String?, warnings: [PolicyWarning]) {
        switch trust {
        case .poolId(let id): return (TrustPolicy.standard(forPool: id).text, id, [])
        case .trustPolicy(let policy):
            let review = TrustPolicyReview(context.realm) { try tx.trustedIssuer($0)?.settings }
            let (text, warnings) = try review.accepted(policy, allowsUnknownIssuers: allowsUnknownIssuers)
            return (text, nil, warnings)
        }
    }
}
