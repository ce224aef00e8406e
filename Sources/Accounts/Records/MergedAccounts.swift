import Contract
import ServiceContext
import Storage

/// The table of merged accounts. Their IDs refer to the account into which they were merged, as long as that account exists.
package enum MergedAccountTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE merged_account (
            id TEXT PRIMARY KEY, survivor_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, merged_at BIGINT NOT NULL)
        """,
        "CREATE INDEX merged_account_of_survivor ON merged_account (survivor_id)",
        // Maps refresh tokens of merged accounts, so that a client that has only a refresh token gets the ID of the remaining account.
        """
        CREATE TABLE merged_refresh_token (
            mac BYTEA PRIMARY KEY, account_id TEXT NOT NULL REFERENCES merged_account (id) ON DELETE CASCADE, expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX merged_refresh_token_of_account ON merged_refresh_token (account_id)",
        "CREATE INDEX merged_refresh_token_expires ON merged_refresh_token (expires_at)",
    ]
}

extension Transaction {
    /// Returns the reason no account with this ID exists: it was merged, or it was not found.
    package func absence(of accountId: String) throws -> any ContractError {
        let merged = try queryOne("SELECT survivor_id, merged_at FROM merged_account WHERE id = $1", accountId) {
            AccountMerged(accountId: accountId, survivorId: $0.string(0), mergedAt: $0.int(1))
        }
        return merged ?? AccountNotFound(accountId: accountId)
    }

    /// Returns the reason tokens of an account that no longer exists are revoked.
    func loss(ofAccount id: String) throws -> any ContractError {
        let absence = try absence(of: id)
        return absence is AccountMerged ? absence : TokenRevoked(reason: "its account was deleted")
    }

    /// - Throws: `AccountMerged` if the refresh token belongs to a merged account.
    func requireUnmerged(refreshToken mac: [UInt8]) throws {
        let accountId = try queryOne("SELECT account_id FROM merged_refresh_token WHERE mac = $1", mac) { $0.string(0) }
        if let accountId { try requireUnmerged(accountId) }
    }

    /// - Throws: `AccountMerged` if the account was merged; its ID cannot be used again.
    func requireUnmerged(_ accountId: String) throws {
        if let merged = try absence(of: accountId) as? AccountMerged { throw merged }
    }

    /// Returns the IDs of the accounts that were merged into an account, in ascending order.
    func mergedAccounts(of survivorId: String) throws -> [String] {
        try query("SELECT id FROM merged_account WHERE survivor_id = $1 ORDER BY id", survivorId) { $0.string(0) }
    }

    /// Returns the number of sessions of an account, including ended sessions that were not yet deleted.
    func sessionCount(of accountId: String) throws -> Int {
        try queryOne("SELECT count(*) FROM session WHERE account_id = $1", accountId) { Int($0.int(0)) } ?? 0
    }
}

extension ExpiryJob {
    /// Deletes refresh tokens of merged accounts after their expiry.
    package static let mergedRefreshTokens = ExpiryJob(
        name: "refresh tokens of merged accounts",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM merged_refresh_token WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM merged_refresh_token WHERE mac IN (SELECT m.mac FROM merged_refresh_token m WHERE m.expires_at < $1 LIMIT $2)",
                now, limit)
        })
}
