import ServiceContext
import Storage

extension ExpiryJob {
    /// Removes the revocations of credentials that have expired, one hour later, to allow for clock differences between hosts.
    package static let revocations = ExpiryJob(
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
}
