import Contract
import JSON
import ServiceContext

extension PoolService {
    /// Removes tags from a pool. Unknown keys are ignored.
    ///
    /// - Throws: `PoolNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `UntagResource`.
    public func untag(_ request: PoolUntag.Params, _ call: any CallContext) throws -> PoolUntag.Result {
        let now = context.clock.now
        return try change(request.poolId, by: PoolUntag.info.name, call, at: now) { pool, _ in
            var tags = pool.tags
            for key in request.tagKeys { tags[key] = nil }
            return pool.with(tags: tags, at: now)
        }
    }
}
