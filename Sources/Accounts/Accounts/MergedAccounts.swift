import Contract
import ServiceContext
import Storage

/// The table of accounts that were merged: their ids lead to the account that they are part of, for as long as that is there.
package enum MergedAccountTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE merged_account (
            id TEXT PRIMARY KEY, survivor_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, merged_at BIGINT NOT NULL)
        """,
        "CREATE INDEX merged_account_of_survivor ON merged_account (survivor_id)",
        // Whoever has no more than a refresh token learns the survivor by it.
        """
        CREATE TABLE merged_refresh_token (
            mac BYTEA PRIMARY KEY, account_id TEXT NOT NULL REFERENCES merged_account (id) ON DELETE CASCADE, expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX merged_refresh_token_of_account ON merged_refresh_token (account_id)",
        "CREATE INDEX merged_refresh_token_expires ON merged_refresh_token (expires_at)",
    ]
}

extension Transaction {
    /// Why there is no account with this id: it is part of another one, or it never was.
    package func absence(of accountId: String) throws -> any ContractError {
        let merged = try queryOne("SELECT survivor_id, merged_at FROM merged_account WHERE id = $1", accountId) {
            AccountMerged(accountId: accountId, survivorId: $0.string(0), mergedAt: $0.int(1))
        }
        return merged ?? AccountNotFound(accountId: accountId)
    }

    /// Why a token of an account that is not there any more proves nothing.
    func loss(ofAccount id: String) throws -> any ContractError {
        let absence = try absence(of: id)
        return absence is AccountMerged ? absence : TokenRevoked(reason: "its account was deleted")
    }

    /// - Throws: `AccountMerged` for the refresh token of an account that is part of another one.
    func requireUnmerged(refreshToken mac: [UInt8]) throws {
        let accountId = try queryOne("SELECT account_id FROM merged_refresh_token WHERE mac = $1", mac) { $0.string(0) }
        if let accountId { try requireUnmerged(accountId) }
    }

    /// - Throws: `AccountMerged` for an id that no account can have any more.
    func requireUnmerged(_ accountId: String) throws {
        if let merged = try absence(of: accountId) as? AccountMerged { throw merged }
    }

    /// Ids of the accounts that were merged into one, in their order.
    func mergedAccounts(of survivorId: String) throws -> [String] {
        try query("SELECT id FROM merged_account WHERE survivor_id = $1 ORDER BY id", survivorId) { $0.string(0) }
    }

    /// Moves what a plan says to the account that stays, which itself is written by the session that begins, and takes the other one away.
    ///
    /// - Throws: `Overtaken`.
    func merge(_ source: AccountRecord, by plan: MergeRule.Plan, at now: Int64) throws {
        let target = plan.account
        for login in plan.replacedLogins { _ = try deleteAccountLogin(at: login.providerId, of: target.id) }
        for login in plan.movedLogins {
            try execute(
                "UPDATE account_login SET account_id = $3 WHERE account_id = $1 AND provider_id = $2", source.id, login.providerId,
                target.id)
        }
        for factor in plan.movedFactors {
            try execute(
                """
                UPDATE factor SET
                    account_id = $2, position = (SELECT coalesce(max(f.position), 0) + 1 FROM factor f WHERE f.account_id = $2)
                WHERE id = $1
                """, factor.id, target.id)
        }
        try endFlows(of: source.id)
        try clearLockout(of: source.lockoutSubject)
        try clearLockout(of: FactorCheck.lockoutSubject(source.id))
        // Who was merged into the other one is now part of this one.
        try execute("UPDATE merged_account SET survivor_id = $2 WHERE survivor_id = $1", source.id, target.id)
        try execute("INSERT INTO merged_account (id, survivor_id, merged_at) VALUES ($1, $2, $3)", source.id, target.id, now)
        try execute(
            """
            INSERT INTO merged_refresh_token (mac, account_id, expires_at)
            SELECT r.mac, s.account_id, r.expires_at FROM refresh_token r JOIN session s ON s.id = r.session_id WHERE s.account_id = $1
            """, source.id)
        try deleteAccount(source.id)
        guard plan.takesAddress else { return }
        try endFlows(of: target.id)
        try releaseNames(of: target.id)
        if let name = target.username, try !claim(name, for: target) { throw Overtaken() }
    }

    /// How many sessions an account has, also those that are over and not yet swept away.
    func sessionCount(of accountId: String) throws -> Int {
        try queryOne("SELECT count(*) FROM session WHERE account_id = $1", accountId) { Int($0.int(0)) } ?? 0
    }
}

extension Sweep {
    /// Refresh tokens of accounts that were merged, once they would have expired.
    package static let mergedRefreshTokens = Sweep(
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
