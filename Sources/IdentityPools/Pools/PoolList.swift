import Contract
import ServiceContext

extension PoolService {
    /// - Throws: `InvalidCursor`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `ListIdentityPools`.
    public func list(_ request: PoolList.Params, _ call: any CallContext) throws -> PoolList.Result {
        let list = PagedList(method: PoolList.info.name)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { try $0.pools(after: start, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit, place: \.poolId)
        return PoolList.Result(pools: page.elements, nextCursor: page.nextCursor)
    }
}
