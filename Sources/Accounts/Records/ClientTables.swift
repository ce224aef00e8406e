import ServiceContext
import Storage

/// The table of the rate limit counters per client address.
package enum ClientTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE client_count (
            kind TEXT NOT NULL, client TEXT NOT NULL, since BIGINT NOT NULL, count BIGINT NOT NULL, expires_at BIGINT NOT NULL,
            PRIMARY KEY (kind, client))
        """,
        "CREATE INDEX client_count_expires ON client_count (expires_at)",
    ]
}

extension ExpiryJob {
    /// Deletes expired client counters.
    package static let clients = ExpiryJob(
        name: "counts of clients",
        hasWork: { tx, now in try tx.queryOne("SELECT 1 FROM client_count WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false },
        remove: { tx, now, limit in
            try tx.execute(
                """
                DELETE FROM client_count
                WHERE (kind, client) IN (SELECT c.kind, c.client FROM client_count c WHERE c.expires_at < $1 LIMIT $2)
                """, now, limit)
        })
}
