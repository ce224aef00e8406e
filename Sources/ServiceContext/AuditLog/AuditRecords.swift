import JSON
import Storage

extension Transaction {
    /// Returns the last record of `chain`, or `nil` if it has none.
    package func auditHead(of chain: String) throws -> AuditChainHead? {
        try queryOne("SELECT number, mac FROM audit WHERE chain = $1 ORDER BY number DESC LIMIT 1", chain) {
            AuditChainHead(chain: chain, number: $0.int(0), mac: $0.bytes(1))
        }
    }

    /// Returns the last record of every chain. The query steps from chain to chain in the index and does not scan the records.
    package func auditHeads() throws -> [AuditChainHead] {
        try query(
            """
            WITH RECURSIVE c (chain) AS (
                SELECT MIN(chain) FROM audit
                UNION ALL SELECT (SELECT MIN(a.chain) FROM audit a WHERE a.chain > c.chain) FROM c WHERE c.chain IS NOT NULL)
            SELECT h.chain, h.number, h.mac FROM c JOIN audit h ON h.chain = c.chain
                AND h.number = (SELECT MAX(a.number) FROM audit a WHERE a.chain = c.chain)
            """
        ) { AuditChainHead(chain: $0.string(0), number: $0.int(1), mac: $0.bytes(2)) }.sorted { $0.chain < $1.chain }
    }

    /// Returns up to `limit` chains whose first record is older than `moment`.
    package func auditChains(beginningBefore moment: Int64, limit: Int) throws -> [String] {
        try query(
            """
            WITH RECURSIVE c (chain) AS (
                SELECT MIN(chain) FROM audit
                UNION ALL SELECT (SELECT MIN(a.chain) FROM audit a WHERE a.chain > c.chain) FROM c WHERE c.chain IS NOT NULL)
            SELECT c.chain FROM c
            WHERE (SELECT a.at FROM audit a WHERE a.chain = c.chain ORDER BY a.number LIMIT 1) < $1 LIMIT $2
            """, moment, limit
        ) { $0.string(0) }
    }

    func insert(_ record: AuditEntry, mac: [UInt8]) throws {
        try execute(
            """
            INSERT INTO audit (chain, number, at, method, trace, pool_id, identity_id, subject, details, mac)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            record.chain, record.number, record.at, record.event.method, record.event.trace, record.event.poolId, record.event.identityId,
            record.event.subject, JSONValue.object(record.event.details).text, mac)
    }

    /// Returns up to `limit` records of `chain`, starting at `number`, with their MACs.
    package func auditRecords(of chain: String, from number: Int64, limit: Int) throws -> [(record: AuditEntry, mac: [UInt8])] {
        try query(
            """
            SELECT chain, number, at, method, trace, pool_id, identity_id, subject, details, mac FROM audit
            WHERE chain = $1 AND number >= $2 ORDER BY number LIMIT $3
            """, chain, number, limit
        ) { (AuditEntry($0), $0.bytes(9)) }
    }

    /// Returns up to `limit` matching records after `cursor`, newest first.
    package func auditRecords(_ filter: AuditFilter, after cursor: AuditCursor?, limit: Int) throws -> [(record: AuditEntry, mac: [UInt8])]
    {
        try query(
            """
            SELECT chain, number, at, method, trace, pool_id, identity_id, subject, details, mac FROM audit
            WHERE at >= $1 AND at < $2 AND (CAST($3 AS TEXT) IS NULL OR pool_id = $3)
                AND (CAST($4 AS TEXT) IS NULL OR identity_id = $4)
                AND (CAST($5 AS TEXT) IS NULL OR method = $5)
                AND (CAST($6 AS BIGINT) IS NULL OR at < $6 OR (at = $6 AND (chain > $7 OR (chain = $7 AND number < $8))))
            ORDER BY at DESC, chain, number DESC LIMIT $9
            """,
            filter.since, filter.until, filter.poolId, filter.identityId, filter.method, cursor?.at, cursor?.chain, cursor?.number, limit
        ) { (AuditEntry($0), $0.bytes(9)) }
    }
}

/// The conditions that records must satisfy.
package struct AuditFilter: Sendable {
    package var since: Int64 = 0
    package var until: Int64 = .max
    package var poolId: String?
    package var identityId: String?
    package var method: String?

    package init(since: Int64 = 0, until: Int64 = .max, poolId: String? = nil, identityId: String? = nil, method: String? = nil) {
        self.since = since
        self.until = until
        self.poolId = poolId
        self.identityId = identityId
        self.method = method
    }
}

/// The position of the last record of a page.
package struct AuditCursor: Sendable {
    let at: Int64
    let chain: String
    let number: Int64

    package init(at: Int64, chain: String, number: Int64) {
        self.at = at
        self.chain = chain
        self.number = number
    }
}

extension AuditEntry {
    init(_ row: Row) {
        var event = AuditEvent(
            method: row.string(3), poolId: row.optionalString(5), identityId: row.optionalString(6), subject: row.optionalString(7),
            details: (try? JSONValue(parsing: row.string(8)))?.object ?? [:])
        event.trace = row.optionalString(4)
        self.init(chain: row.string(0), number: row.int(1), at: row.int(2), event: event)
    }
}
