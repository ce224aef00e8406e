import Contract
import ServiceContext

extension PoolService {
    /// - Throws: `PoolNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `DescribeIdentityPool`.
    public func get(_ request: PoolGet.Params, _ call: any CallContext) throws -> PoolGet.Result {
        answer(try context.database.read { try configurations.pool(request.poolId, in: $0) })
    }
}
