import Contract

extension PoolService {
    /// - Throws: `PoolNotFound`.
    /// - Source: GetIdentityPoolRoles; cognito.md 3.1.
    public func getRoles(_ request: PoolGetRoles.Params, _ call: any CallContext) throws -> PoolGetRoles.Result {
        let roles = try surroundings.database.read { tx in
            _ = try catalogue.pool(request.poolId, in: tx)
            return try tx.poolRoles(request.poolId)
        }
        return answer(roles, of: request.poolId)
    }
}
