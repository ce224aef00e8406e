import Contract
import ServiceContext

extension IdentityService {
    /// - Throws: `PoolNotFound`, `InvalidCursor`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `ListIdentities`.
    public func list(_ request: IdentityList.Params, _ call: any CallContext) throws -> IdentityList.Result {
        let list = PagedList(method: IdentityList.info.name, scope: "\(request.poolId) \(request.hideDisabled)")
        let start = try list.place(after: request.cursor)
        return try context.database.read { tx in
            _ = try configurations.pool(request.poolId, in: tx)
            let found = try tx.identities(
                in: request.poolId, after: start, hidingDisabled: request.hideDisabled, limit: Int(request.limit) + 1)
            let page = list.page(found, limit: request.limit, place: \.id)
            return IdentityList.Result(
                poolId: request.poolId, identities: try page.elements.map { try answer($0, in: tx) }, nextCursor: page.nextCursor)
        }
    }
}
