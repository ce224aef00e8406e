import Storage

/// One kind of row that is of no use any more after some time, and how to remove it.
struct Sweep: Sendable {
    typealias Removal = @Sendable (_ tx: Transaction, _ now: Int64, _ limit: Int) throws -> Int

    /// What is removed, for the log.
    let name: String
    /// Whether anything is to be removed; only reads, so that a sweep without work takes no lock.
    let hasWork: @Sendable (_ tx: Transaction, _ now: Int64) throws -> Bool
    /// Removes up to `limit` rows, in a transaction in which no other process sweeps, and answers how many they were.
    let remove: Removal

    /// Everything that is swept. What keeps rows that expire adds its line here.
    static func all(of surroundings: Surroundings, auditRetentionSeconds: Int64?) -> [Sweep] {
        [.revocations, .signingKeys, .flows, .counts, .clients, .sendClaims, .sessions, .spentTokens, .idpFlows, .mergedRefreshTokens]
            + (auditRetentionSeconds.map { [.audit(AuditRetention(log: surroundings.audit, seconds: $0))] } ?? [])
    }
}

extension Sweep {
    /// Revocations of what has expired by itself. An hour more, for hosts whose clocks differ.
    static let revocations = Sweep(
        name: "revocations",
        hasWork: { tx, now in try tx.queryOne("SELECT 1 FROM revocation WHERE expires_at < $1 LIMIT 1", now - 3600) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                """
                DELETE FROM revocation
                WHERE (kind, target) IN (SELECT r.kind, r.target FROM revocation r WHERE r.expires_at < $1 LIMIT $2)
                """, now - 3600, limit)
        })

    /// Keys that are gone, and revoked ones whose last token has expired. An hour more, for hosts whose clocks differ.
    static let signingKeys = Sweep(
        name: "signing keys",
        hasWork: { tx, now in try !tx.goneKeys(before: now - KeyRing.longestTokenSeconds - 3600, limit: 1).isEmpty },
        remove: { tx, now, limit in
            let gone = try tx.goneKeys(before: now - KeyRing.longestTokenSeconds - 3600, limit: limit)
            if !gone.isEmpty { try tx.advanceEpoch() }
            return try gone.reduce(0) { try $0 + tx.execute("DELETE FROM signing_key WHERE kid = $1", $1) }
        })

    /// Audit records past their retention.
    static func audit(_ retention: AuditRetention) -> Sweep {
        Sweep(
            name: "audit records", hasWork: { try retention.hasWork(at: $1, in: $0) },
            remove: { try retention.remove(limit: $2, at: $1, in: $0) })
    }
}

extension Transaction {
    /// Up to `limit` keys that were revoked, or replaced by a key that is still trusted, at or before `moment`.
    fileprivate func goneKeys(before moment: Int64, limit: Int) throws -> [String] {
        try query(
            """
            SELECT k.kid FROM signing_key k
            WHERE k.revoked_at <= $1
                OR k.revoked_at IS NULL AND EXISTS (
                    SELECT 1 FROM signing_key n
                    WHERE n.owner = k.owner AND n.revoked_at IS NULL AND n.active_at <= $1
                        AND (n.active_at > k.active_at OR n.active_at = k.active_at AND n.position > k.position))
            LIMIT $2
            """, moment, limit
        ) { $0.string(0) }
    }
}
