import Contract
import JSON

extension PoolService {
    /// Replaces the roles that a pool gives to its identities.
    ///
    /// - Throws: `PoolNotFound`, `RoleNotFound`.
    /// - Source: SetIdentityPoolRoles; cognito.md 1.5, 3.1.
    public func setRoles(_ request: PoolSetRoles.Params, _ call: any CallContext) throws -> PoolSetRoles.Result {
        let now = surroundings.clock.now
        var roles: [String: String] = [:]
        var details: JSONObject = [:]
        for (kind, arn) in [("authenticated", request.roles.authenticated), ("unauthenticated", request.roles.unauthenticated)] {
            guard let arn else { continue }
            guard let name = surroundings.realm.roleName(of: arn) else { throw RoleNotFound(role: arn) }
            roles[kind] = name
            details[kind] = .string(arn)
        }
        try surroundings.database.write { tx in
            try tx.lock([request.poolId])
            guard try tx.pool(request.poolId) != nil else { throw PoolNotFound(poolId: request.poolId) }
            for name in roles.values.sorted() where try tx.role(name) == nil {
                throw RoleNotFound(role: surroundings.realm.arn(ofRole: name))
            }
            try tx.setPoolRoles(request.poolId, roles)
            try tx.advanceEpoch()
            try surroundings.audit.record(
                AuditEvent(method: PoolSetRoles.info.name, trace: call.trace, poolId: request.poolId, details: details), at: now, in: tx)
        }
        return answer(roles, of: request.poolId)
    }
}
