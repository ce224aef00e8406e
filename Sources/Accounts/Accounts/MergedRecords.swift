import Contract
import ServiceContext
import Storage

extension Transaction {
    /// Applies a merge plan: moves records to the remaining account and deletes the other one. The remaining account itself is stored when
    /// its new session starts.
    ///
    /// - Throws: `SerializationConflict`.
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
        try movePasskeys(of: source.id, to: target.id)
        try moveAgents(of: source.id, to: target.id)
        try endFlows(of: source.id)
        try clearLockout(of: source.lockoutSubject)
        try clearLockout(of: FactorCheck.lockoutSubject(source.id))
        // Accounts that were merged into the source now refer to the target.
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
        if let name = target.username, try !claim(name, for: target) { throw SerializationConflict() }
    }
}
