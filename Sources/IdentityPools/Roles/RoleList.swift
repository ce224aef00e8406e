import Contract
import ServiceContext

extension RoleService {
    /// - Throws: `InvalidCursor`.
    public func list(_ request: RoleList.Params, _ call: any CallContext) throws -> RoleList.Result {
        let list = PagedList(method: RoleList.info.name)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { try $0.roles(after: start, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit, place: \.name)
        return RoleList.Result(roles: page.elements.map { answer($0) }, nextCursor: page.nextCursor)
    }
}
