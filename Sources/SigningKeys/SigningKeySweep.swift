import ServiceContext
import Storage

extension ExpiryJob {
    /// Deletes retired and revoked keys after their last token or session cookie has expired. Waits one hour longer, because the clocks of
    /// hosts may differ.
    package static let signingKeys = ExpiryJob(
        name: "signing keys",
        hasWork: { tx, now in try !tx.goneKeys(at: now - 3600, limit: 1).isEmpty },
        remove: { tx, now, limit in
            let gone = try tx.goneKeys(at: now - 3600, limit: limit)
            if !gone.isEmpty { try tx.advanceEpoch() }
            return try gone.reduce(0) { try $0 + tx.execute("DELETE FROM signing_key WHERE kid = $1", $1) }
        })
}

extension Transaction {
    /// Returns up to `limit` keys with which no accepted token can be signed at `now`. Only tenants sign session cookies. A revoked key is kept as long as its tokens, so that
    /// they are reported as revoked.
    fileprivate func goneKeys(at now: Int64, limit: Int) throws -> [String] {
        try query(
            """
            SELECT k.kid FROM signing_key k
            WHERE k.revoked_at <= $1
                OR k.revoked_at IS NULL AND EXISTS (
                    SELECT 1 FROM signing_key n
                    WHERE n.owner = k.owner AND n.revoked_at IS NULL
                        AND (n.owner NOT LIKE 'accounts/%' OR n.algorithm = k.algorithm)
                        AND n.active_at <= CASE WHEN k.owner LIKE 'tenants/%' THEN CAST($2 AS BIGINT) ELSE CAST($1 AS BIGINT) END
                        AND (n.active_at > k.active_at OR n.active_at = k.active_at AND n.position > k.position))
            LIMIT $3
            """, now - KeyRing.longestTokenSeconds, now - KeyRing.longestCookieSeconds, limit
        ) { $0.string(0) }
    }
}
