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

    /// Returns a page of a filtered or sorted list. Its position is the number of accounts before it.
    private func sortedList(_ request: AccountList.Params) throws -> AccountList.Result {
        let order = request.sortBy.rawValue + (request.descending ? "-" : "")
        let filters = "\(request.disabled.map { "\($0)" } ?? "") \(request.providerId ?? "")"
        let list = PagedList(method: AccountList.info.name, scope: "\(request.tenantId)\n\(order) \(filters)")
        guard let start = Int(try "0" + list.place(after: request.cursor)) else { throw InvalidCursor(method: list.method) }
        let found = try context.database.read { tx -> [(Int, Account)] in
            let tenantId = try configurations.tenant(request.tenantId, in: tx).id
            let selection = AccountSelection(
                tenantId: tenantId, isDisabled: request.disabled, providerId: request.providerId, order: order)
            let ids = try tx.accountIds(selection, from: start, limit: Int(request.limit) + 1)
            return try ids.enumerated().compactMap { index, id in
                try tx.account(id).map { (start + index + 1, try $0.answer(in: tx)) }
            }
        }
        let page = list.page(found, limit: request.limit) { String($0.0) }
        return AccountList.Result(accounts: page.elements.map(\.1), nextCursor: page.nextCursor)
    }
}

/// The accounts of a tenant that a list contains, and their order.
package struct AccountSelection: Sendable {
    package let tenantId: String
    package var isDisabled: Bool?
    package var providerId: String?
    /// `accountId`, `email`, `createdAt` or `lastSignInAt`, with `-` at the end for the reversed order.
    package var order: String

    package init(tenantId: String, isDisabled: Bool? = nil, providerId: String? = nil, order: String = "accountId") {
        self.tenantId = tenantId
        self.isDisabled = isDisabled
        self.providerId = providerId
        self.order = order
    }
}

extension Transaction {
    package func accountIds(_ selection: AccountSelection, from start: Int, limit: Int) throws -> [String] {
        try query(
            """
            SELECT a.id FROM account a
            WHERE a.tenant_id = $1 AND (CAST($2 AS BIGINT) = -1 OR a.disabled = (CAST($2 AS BIGINT) = 1))
                AND (CAST($3 AS TEXT) = '' OR EXISTS (
                    SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($3 AS TEXT)))
            ORDER BY
                CASE WHEN CAST($4 AS TEXT) = 'email' THEN COALESCE(LOWER(a.email), '') END,
                CASE WHEN CAST($4 AS TEXT) = 'email-' THEN COALESCE(LOWER(a.email), '') END DESC,
                CASE WHEN CAST($4 AS TEXT) = 'createdAt' THEN a.created_at END,
                CASE WHEN CAST($4 AS TEXT) = 'createdAt-' THEN a.created_at END DESC,
                CASE WHEN CAST($4 AS TEXT) = 'lastSignInAt' THEN COALESCE(a.last_sign_in_at, -1) END,
                CASE WHEN CAST($4 AS TEXT) = 'lastSignInAt-' THEN COALESCE(a.last_sign_in_at, -1) END DESC,
                CASE WHEN CAST($4 AS TEXT) = 'accountId-' THEN a.id END DESC,
                a.id
            LIMIT $5 OFFSET $6
            """, selection.tenantId, selection.isDisabled.map { $0 ? 1 : 0 } ?? -1, selection.providerId ?? "", selection.order, limit,
            start
        ) { $0.string(0) }
    }
}
