import Contract
import ServiceContext
import Storage

extension RoleService {
    /// Creates or replaces a role, with a given trust policy or the standard one for a pool.
    ///
    /// - Throws: `PoolNotFound`, `MalformedPolicy`; `InvalidParams` if a tag contains characters that are not allowed.
    public func put(_ request: RolePut.Params, _ call: any CallContext) throws -> RolePut.Result {
        let now = context.clock.now
        try ResourceTags.check(request.tags)
        let roleId = RoleRecord.newId(context.random)
        let (stored, warnings) = try context.database.write { tx in
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
        return answer(stored, warnings)
    }

    private func trust(
        _ trust: RolePut.Params.Trust, allowsUnknownIssuers: Bool, in tx: Transaction
    ) throws -> (policy: String, poolId: String?, warnings: [PolicyWarning]) {
        switch trust {
        case .poolId(let id): return (TrustPolicy.standard(forPool: id).text, id, [])
        case .trustPolicy(let policy):
            let review = TrustPolicyReview(context.realm, allowsUnknownIssuers: allowsUnknownIssuers) { try tx.trustedIssuer($0)?.settings }
            let (text, warnings) = try review.accepted(policy)
            return (text, nil, warnings)
        }
    }
}
