import Contract
import ServiceContext

extension PoolService {
    /// - Throws: `PoolNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `DescribeIdentityPool`.
    public func get(_ request: PoolGet.Params, _ call: any CallContext) throws -> PoolGet.Result {
        answer(try surroundings.database.read { try catalogue.pool(request.poolId, in: $0) })
    }
}
