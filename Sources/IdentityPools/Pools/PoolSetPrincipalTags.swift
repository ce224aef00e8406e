import Contract
import ServiceContext

extension PoolService {
    /// Replaces the tag map of a login provider.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedLoginProvider`, `InvalidPrincipalTags`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `SetPrincipalTagAttributeMap`.
    public func setPrincipalTags(_ request: PoolSetPrincipalTags.Params, _ call: any CallContext) throws -> PoolSetPrincipalTags.Result {
        let now = context.clock.now
        let map = try PrincipalTagMaps.Map(usesDefaults: request.useDefaults, claims: request.principalTags)
        try context.database.write { tx in
            guard let pool = try tx.pool(request.poolId) else { throw PoolNotFound(poolId: request.poolId) }
            guard pool.provider(named: request.provider) != nil else {
                throw UnsupportedLoginProvider(poolId: pool.id, provider: request.provider)
            }
            var maps = pool.tagMaps
            maps[request.provider] = map.tags.isEmpty ? nil : map
            try tx.advanceEpoch()
            try tx.setTagMaps(maps, of: pool.id)
            try context.audit.record(
                AuditEvent(method: PoolSetPrincipalTags.info.name, by: call, poolId: pool.id, subject: request.provider), at: now,
                in: tx)
        }
        return answer(map, of: request.provider, in: request.poolId)
    }

    func answer(_ map: PrincipalTagMaps.Map, of provider: String, in poolId: String) -> PrincipalTagMap {
        PrincipalTagMap(
            poolId: poolId, provider: provider, useDefaults: map.usesDefaults, principalTags: Members(map.tags.map { ($0.key, $0.claim) }))
    }
}
