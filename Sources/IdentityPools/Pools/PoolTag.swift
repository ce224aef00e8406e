import Contract
import JSON
import ServiceContext

extension PoolService {
    /// Puts tags on a pool; a key that is there gets the new value.
    ///
    /// - Throws: `PoolNotFound`, `TooManyTags`; `InvalidParams` for tags of other characters.
    /// - Source: TagResource; cognito.md 3.1.
    public func tag(_ request: PoolTag.Params, _ call: any CallContext) throws -> PoolTag.Result {
        let now = surroundings.clock.now
        try ResourceTags.check(request.tags)
        return try change(request.poolId, PoolTag.info.name, call, at: now) { pool, _ in
            var tags = pool.tags
            for tag in request.tags { tags[tag.name] = .string(tag.value) }
            guard tags.count <= 50 else { throw TooManyTags(poolId: pool.id, count: Int64(tags.count)) }
            return pool.with(tags: tags, at: now)
        }
    }
}
