import Contract
import JSON
import ServiceContext

extension PoolService {
    /// Replaces the roles that a pool assigns to its identities.
    ///
    /// - Throws: `PoolNotFound`, `RoleNotFound`, `InvalidRoleMapping`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `SetIdentityPoolRoles`.
    public func setRoles(_ request: PoolSetRoles.Params, _ call: any CallContext) throws -> PoolSetRoles.Result {
        let now = context.clock.now
        var roles: [String: String] = [:]
        var details: JSONObject = [:]
        for (kind, arn) in [("authenticated", request.roles.authenticated), ("unauthenticated", request.roles.unauthenticated)] {
            guard let arn else { continue }
            roles[kind] = try roleName(arn)
            details[kind] = .string(arn)
        }
        let mappings = request.mappings ?? [:]
        try context.database.write { tx in
            try tx.lock([request.poolId])
            guard let pool = try tx.pool(request.poolId) else { throw PoolNotFound(poolId: request.poolId) }
            for mapping in mappings { try RoleMappings.check(mapping.value, of: mapping.name, among: pool.providers) }
            let arns = mappings.flatMap { $0.value.rules ?? [] }.map(\.roleArn)
            for name in Set(try roles.values + arns.map { try roleName($0) }).sorted() where try tx.role(name) == nil {
                throw RoleNotFound(role: context.realm.arn(ofRole: name))
            }
            try tx.advanceEpoch()
            try tx.setPoolRoles(request.poolId, roles)
            try tx.setRoleMappings(mappings, of: pool.id)
            try context.audit.record(
                AuditEvent(method: PoolSetRoles.info.name, by: call, poolId: request.poolId, details: details), at: now, in: tx)
        }
        return answer(roles, mappings, of: request.poolId)
    }

    private func roleName(_ arn: String) throws -> String {
        guard let name = context.realm.roleName(of: arn) else { throw RoleNotFound(role: arn) }
        return name
    }
}
