import Contract
import ServiceContext

extension AccountService {
    /// - Throws: `TenantNotFound`, `InvalidCursor`.
    public func list(_ request: AccountList.Params, _ call: any CallContext) throws -> AccountList.Result {
        let list = PagedList(method: AccountList.info.name, scope: request.tenantId)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { tx in
            try tx.accounts(of: try configurations.tenant(request.tenantId, in: tx).id, after: start, limit: Int(request.limit) + 1).map {
                try $0.answer(in: tx)
            }
        }
        let page = list.page(found, limit: request.limit, place: \.accountId)
        return AccountList.Result(accounts: page.elements, nextCursor: page.nextCursor)
    }
}
