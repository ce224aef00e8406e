import Contract
import JSON
import ServiceContext

extension PoolService {
    /// Adds tags to a pool. Replaces the values of existing keys.
    ///
    /// - Throws: `PoolNotFound`, `TooManyTags`; `InvalidParams` if a tag contains characters that are not allowed.
    /// - Source: Amazon Cognito Federated Identities API Reference, `TagResource`.
    public func tag(_ request: PoolTag.Params, _ call: any CallContext) throws -> PoolTag.Result {
        let now = context.clock.now
        try ResourceTags.check(request.tags)
        return try change(request.poolId, by: PoolTag.info.name, call, at: now) { pool, _ in
            var tags = pool.tags
            for tag in request.tags { tags[tag.name] = .string(tag.value) }
            guard tags.count <= 50 else { throw TooManyTags(poolId: pool.id, count: Int64(tags.count)) }
            return pool.with(tags: tags, at: now)
        }
    }
}
