import Contract
import ServiceContext

extension TenantService {
    /// - Throws: `InvalidCursor`.
    public func list(_ request: TenantList.Params, _ call: any CallContext) throws -> TenantList.Result {
        let list = PagedList(method: TenantList.info.name)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { try $0.tenants(after: start, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit, place: \.id)
        return TenantList.Result(tenants: page.elements.map { $0.answer(in: context.realm) }, nextCursor: page.nextCursor)
    }
}
