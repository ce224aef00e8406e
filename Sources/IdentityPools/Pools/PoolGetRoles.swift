import Contract
import ServiceContext

extension PoolService {
    /// - Throws: `PoolNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `GetIdentityPoolRoles`.
    public func getRoles(_ request: PoolGetRoles.Params, _ call: any CallContext) throws -> PoolGetRoles.Result {
        let (roles, mappings) = try context.database.read { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            return (try tx.poolRoles(pool.id), pool.orderedRoleMappings)
        }
        return answer(roles, Members(mappings.map { ($0.key, $0.value) }), of: request.poolId)
    }
}
