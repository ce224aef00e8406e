import Contract
import ServiceContext

extension RoleService {
    /// Creates or replaces a role, with a given trust policy or the standard one for a pool.
    ///
    /// - Throws: `PoolNotFound`, `MalformedPolicy`; `InvalidParams` if a tag contains characters that are not allowed.
    public func put(_ request: RolePut.Params, _ call: any CallContext) throws -> RolePut.Result {
        let now = context.clock.now
        try ResourceTags.check(request.tags)
        let (trustPolicy, poolId) = try trust(request.trust)
        let fresh = RoleRecord(
            name: request.name, roleId: RoleRecord.newId(context.random), trustPolicy: trustPolicy,
            maxSessionSeconds: request.maxSessionSeconds, tags: request.tags?.object ?? [:], createdAt: now, updatedAt: now)
        let stored = try context.database.write { tx in
            if let poolId, try tx.pool(poolId) == nil { throw PoolNotFound(poolId: poolId) }
            let stored = try tx.put(fresh)
            try context.audit.record(
                AuditEvent(
                    method: RolePut.info.name, by: call, poolId: poolId, subject: context.realm.arn(ofRole: request.name)),
                at: now, in: tx)
            return stored
        }
        return answer(stored)
    }

    private func trust(_ trust: RolePut.Params.Trust) throws -> (policy: String, poolId: String?) {
        switch trust {
        case .poolId(let id): return (TrustPolicy.standard(forPool: id).text, id)
        case .trustPolicy(let policy): return (try TrustPolicy.accepted(policy), nil)
        }
    }
}
