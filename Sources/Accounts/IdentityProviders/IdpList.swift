import Contract
import ServiceContext

extension IdpService {
    /// - Throws: `TenantNotFound`, `InvalidCursor`.
    public func list(_ request: IdpList.Params, _ call: any CallContext) throws -> IdpList.Result {
        let list = PagedList(method: IdpList.info.name, scope: request.tenantId)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { tx in
            try tx.idps(of: try configurations.tenant(request.tenantId, in: tx).id, after: start, limit: Int(request.limit) + 1)
        }
        let page = list.page(found, limit: request.limit, place: \.providerId)
        return IdpList.Result(idps: page.elements.map(\.answer), nextCursor: page.nextCursor)
    }
}
