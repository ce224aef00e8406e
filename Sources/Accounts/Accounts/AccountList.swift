import Contract
import ServiceContext
import Storage

extension AccountService {
    /// - Throws: `TenantNotFound`, `InvalidCursor`.
    public func list(_ request: AccountList.Params, _ call: any CallContext) throws -> AccountList.Result {
        let isPlain = request.disabled == nil && request.providerId == nil && request.sortBy == .accountId && !request.descending
        if !isPlain { return try sortedList(request) }
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

    /// Returns a page of a filtered or sorted list. Its position is the value by which the last account is sorted, and the account's ID.
    private func sortedList(_ request: AccountList.Params) throws -> AccountList.Result {
        let order = AccountOrder(key: .init(rawValue: request.sortBy.rawValue) ?? .accountId, isDescending: request.descending)
        let filters = "\(request.disabled.map { "\($0)" } ?? "") \(request.providerId ?? "")"
        // Cursors of versions that counted the accounts are refused: the scope has another form.
        let list = PagedList(method: AccountList.info.name, scope: "\(request.tenantId)\n\(order) after key\n\(filters)")
        let start = try request.cursor.map { text in
            guard let place = AccountPlace(try list.place(after: text), order.key) else { throw InvalidCursor(method: list.method) }
            return place
        }
        let found = try context.database.read { tx -> [(AccountPlace, Account)] in
            let tenantId = try configurations.tenant(request.tenantId, in: tx).id
            let selection = AccountSelection(
                tenantId: tenantId, isDisabled: request.disabled, providerId: request.providerId, order: order)
            return try tx.accountPlaces(selection, after: start, limit: Int(request.limit) + 1).compactMap { place in
                try tx.account(place.id).map { (place, try $0.answer(in: tx)) }
            }
        }
        let page = list.page(found, limit: request.limit) { $0.0.text }
        return AccountList.Result(accounts: page.elements.map(\.1), nextCursor: page.nextCursor)
    }
}
