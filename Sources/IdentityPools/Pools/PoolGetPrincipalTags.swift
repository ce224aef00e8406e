import Contract
import ServiceContext

extension PoolService {
    /// - Throws: `PoolNotFound`, `PrincipalTagsNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `GetPrincipalTagAttributeMap`.
    public func getPrincipalTags(_ request: PoolGetPrincipalTags.Params, _ call: any CallContext) throws -> PoolGetPrincipalTags.Result {
        let pool = try context.database.read { try configurations.pool(request.poolId, in: $0) }
        guard let map = pool.tagMaps[request.provider] else {
            throw PrincipalTagsNotFound(poolId: pool.id, provider: request.provider)
        }
        return answer(map, of: request.provider, in: pool.id)
    }
}
