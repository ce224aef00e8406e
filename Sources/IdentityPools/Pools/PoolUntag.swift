import Contract
import JSON
import ServiceContext

extension PoolService {
    /// Takes tags off a pool; keys that are not there are passed over.
    ///
    /// - Throws: `PoolNotFound`.
    /// - Source: UntagResource; cognito.md 3.1.
    public func untag(_ request: PoolUntag.Params, _ call: any CallContext) throws -> PoolUntag.Result {
        let now = surroundings.clock.now
        return try change(request.poolId, PoolUntag.info.name, call, at: now) { pool, _ in
            var tags = pool.tags
            for key in request.tagKeys { tags[key] = nil }
            return pool.with(tags: tags, at: now)
        }
    }
}
