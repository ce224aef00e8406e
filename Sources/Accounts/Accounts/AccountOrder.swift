import Storage

/// The member by which a list of accounts is sorted. Accounts with the same value are sorted by ID, in the same direction.
package struct AccountOrder: Sendable, CustomStringConvertible {
    package enum Key: String, Sendable {
        case accountId, email, createdAt, lastSignInAt
    }

    package let key: Key
    package let isDescending: Bool

    package init(key: Key, isDescending: Bool = false) {
        self.key = key
        self.isDescending = isDescending
    }

    package var description: String { key.rawValue + (isDescending ? "-" : "") }

    /// The place before all accounts.
    fileprivate var start: AccountPlace {
        switch key {
        // A name ends long before this character, the greatest one.
        case .accountId, .email: AccountPlace(value: .text(isDescending ? "\u{10FFFF}" : ""), id: isDescending ? "\u{10FFFF}" : "")
        case .createdAt, .lastSignInAt: AccountPlace(value: .number(isDescending ? .max : .min), id: "")
        }
    }
}

/// The place of an account in a sorted list: the value by which it is sorted, and its ID.
package struct AccountPlace: Sendable, Equatable {
    enum Value: Sendable, Equatable {
        case text(String)
        case number(Int64)
    }

    let value: Value
    package let id: String

    init(value: Value, id: String) {
        self.value = value
        self.id = id
    }

    /// Returns `nil` if the text is not the place of an account in this order.
    package init?(_ text: String, _ key: AccountOrder.Key) {
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        let (value, id) = (String(text[..<end]), String(text[text.utf8.index(after: end)...]))
        switch key {
        case .accountId, .email: self.init(value: .text(value), id: id)
        case .createdAt, .lastSignInAt:
            guard let number = Int64(value) else { return nil }
            self.init(value: .number(number), id: id)
        }
    }

    package var text: String {
        switch value {
        case .text(let text): "\(text)\n\(id)"
        case .number(let number): "\(number)\n\(id)"
        }
    }
}

extension AccountPlace.Value: SQLValue {
    package var sqlParameter: SQLParameter {
        switch self {
        case .text(let text): .text(text)
        case .number(let number): .integer(number)
        }
    }
}

/// The accounts of a tenant that a list contains, and their order.
package struct AccountSelection: Sendable {
    package let tenantId: String
    package var isDisabled: Bool?
    package var providerId: String?
    package var order: AccountOrder

    package init(tenantId: String, isDisabled: Bool? = nil, providerId: String? = nil, order: AccountOrder) {
        self.tenantId = tenantId
        self.isDisabled = isDisabled
        self.providerId = providerId
        self.order = order
    }
}

extension AccountOrder {
    /// The indexes by which sorted lists are read page by page.
    package static let indexes: [SQL] = [
        "CREATE INDEX account_by_email ON account (tenant_id, COALESCE(LOWER(email), ''), id)",
        "CREATE INDEX account_by_creation ON account (tenant_id, created_at, id)",
        "CREATE INDEX account_by_sign_in ON account (tenant_id, COALESCE(last_sign_in_at, -1), id)",
    ]

    /// The accounts with the same value after an ID, and those with the values after it. Each query reads a range of an index. As one query,
    /// it would be a comparison of pairs, for which SQLite does not use an index of expressions.
    fileprivate var queries: (same: SQL?, next: SQL) {
        switch (key, isDescending) {
        case (.email, false):
            (
                """
                SELECT COALESCE(LOWER(a.email), ''), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(LOWER(a.email), '') = $2 AND a.id > $6
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id LIMIT $5
                """,
                """
                SELECT COALESCE(LOWER(a.email), ''), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(LOWER(a.email), '') > $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY COALESCE(LOWER(a.email), ''), a.id LIMIT $5
                """
            )
        case (.email, true):
            (
                """
                SELECT COALESCE(LOWER(a.email), ''), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(LOWER(a.email), '') = $2 AND a.id < $6
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id DESC LIMIT $5
                """,
                """
                SELECT COALESCE(LOWER(a.email), ''), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(LOWER(a.email), '') < $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY COALESCE(LOWER(a.email), '') DESC, a.id DESC LIMIT $5
                """
            )
        case (.createdAt, false):
            (
                """
                SELECT a.created_at, a.id FROM account a
                WHERE a.tenant_id = $1 AND a.created_at = $2 AND a.id > $6
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id LIMIT $5
                """,
                """
                SELECT a.created_at, a.id FROM account a
                WHERE a.tenant_id = $1 AND a.created_at > $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.created_at, a.id LIMIT $5
                """
            )
        case (.createdAt, true):
            (
                """
                SELECT a.created_at, a.id FROM account a
                WHERE a.tenant_id = $1 AND a.created_at = $2 AND a.id < $6
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id DESC LIMIT $5
                """,
                """
                SELECT a.created_at, a.id FROM account a
                WHERE a.tenant_id = $1 AND a.created_at < $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.created_at DESC, a.id DESC LIMIT $5
                """
            )
        case (.lastSignInAt, false):
            (
                """
                SELECT COALESCE(a.last_sign_in_at, -1), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(a.last_sign_in_at, -1) = $2 AND a.id > $6
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id LIMIT $5
                """,
                """
                SELECT COALESCE(a.last_sign_in_at, -1), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(a.last_sign_in_at, -1) > $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY COALESCE(a.last_sign_in_at, -1), a.id LIMIT $5
                """
            )
        case (.lastSignInAt, true):
            (
                """
                SELECT COALESCE(a.last_sign_in_at, -1), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(a.last_sign_in_at, -1) = $2 AND a.id < $6
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id DESC LIMIT $5
                """,
                """
                SELECT COALESCE(a.last_sign_in_at, -1), a.id FROM account a
                WHERE a.tenant_id = $1 AND COALESCE(a.last_sign_in_at, -1) < $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY COALESCE(a.last_sign_in_at, -1) DESC, a.id DESC LIMIT $5
                """
            )
        case (.accountId, false):
            (
                nil,
                """
                SELECT a.id, a.id FROM account a
                WHERE a.tenant_id = $1 AND a.id > $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id LIMIT $5
                """
            )
        case (.accountId, true):
            (
                nil,
                """
                SELECT a.id, a.id FROM account a
                WHERE a.tenant_id = $1 AND a.id < $2
                    AND (CAST($3 AS BIGINT) = -1 OR a.disabled = (CAST($3 AS BIGINT) = 1))
                    AND (CAST($4 AS TEXT) = '' OR EXISTS (
                        SELECT 1 FROM account_login l WHERE l.account_id = a.id AND l.provider_id = CAST($4 AS TEXT)))
                ORDER BY a.id DESC LIMIT $5
                """
            )
        }
    }
}

extension Transaction {
    /// Returns up to `limit` accounts after a place.
    package func accountPlaces(_ selection: AccountSelection, after start: AccountPlace?, limit: Int) throws -> [AccountPlace] {
        let (order, start) = (selection.order, start ?? selection.order.start)
        let filters = (selection.isDisabled.map { $0 ? 1 : 0 } ?? -1, selection.providerId ?? "")
        let (same, next) = order.queries
        func place(_ row: Row) -> AccountPlace {
            switch order.key {
            case .accountId, .email: AccountPlace(value: .text(row.string(0)), id: row.string(1))
            case .createdAt, .lastSignInAt: AccountPlace(value: .number(row.int(0)), id: row.string(1))
            }
        }
        var found: [AccountPlace] = []
        if let same {
            found = try query(same, selection.tenantId, start.value, filters.0, filters.1, limit, start.id, row: place)
        }
        guard found.count < limit else { return found }
        return found + (try query(next, selection.tenantId, start.value, filters.0, filters.1, limit - found.count, row: place))
    }

    /// Returns up to `limit` accounts after the first `count` ones. The time is proportional to `count`.
    package func accountIds(_ selection: AccountSelection, from count: Int, limit: Int) throws -> [String] {
        var (place, left) = (AccountPlace?.none, count)
        while left > 0 {
            let passed = try accountPlaces(selection, after: place, limit: min(left, 10_000))
            guard let last = passed.last else { return [] }
            (place, left) = (last, left - passed.count)
        }
        return try accountPlaces(selection, after: place, limit: limit).map(\.id)
    }
}
