import Contract
import ServiceContext

extension ApplicationService {
    /// - Throws: `TenantNotFound`, `InvalidCursor`.
    public func list(_ request: ApplicationList.Params, _ call: any CallContext) throws -> ApplicationList.Result {
        let list = PagedList(method: ApplicationList.info.name, scope: request.tenantId)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { tx in
            try tx.applications(of: try configurations.tenant(request.tenantId, in: tx).id, after: start, limit: Int(request.limit) + 1)
        }
        let page = list.page(found, limit: request.limit, place: \.clientId)
        return ApplicationList.Result(applications: page.elements.map(\.answer), nextCursor: page.nextCursor)
    }
}
