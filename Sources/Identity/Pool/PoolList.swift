import Contract

extension PoolService {
    /// - Throws: `InvalidCursor`.
    /// - Source: ListIdentityPools; cognito.md 3.1.
    public func list(_ request: PoolList.Params, _ call: any CallContext) throws -> PoolList.Result {
        let start = try place(after: request.cursor, of: PoolList.info.name)
        let found = try surroundings.database.read { try $0.pools(after: start, limit: Int(request.limit) + 1) }
        let page = Page(found, limit: request.limit, place: \.id)
        return PoolList.Result(pools: page.elements.map(answer), nextCursor: page.nextCursor)
    }
}
