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

    func insert(_ record: AuditEntry, mac: [UInt8], position: Int64) throws {
        try execute(
            """
            INSERT INTO audit (chain, number, at, method, trace, pool_id, identity_id, subject, details, mac, position)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            record.chain, record.number, record.at, record.event.method, record.event.trace, record.event.poolId, record.event.identityId,
            record.event.subject, JSONValue.object(record.event.details).text, mac, position)
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

    /// Returns up to `limit` matching records after `cursor`, newest first, with their MACs and the cursors after them.
    package func auditRecords(
        _ filter: AuditFilter, after cursor: AuditCursor?, limit: Int
    ) throws -> [(record: AuditEntry, mac: [UInt8], cursor: AuditCursor)] {
        // No position is negative, so this cursor is before all records of the second `until`.
        var end = AuditCursor(at: filter.until, position: -1, chain: "", number: 0)
        if let cursor, cursor.at < filter.until { end = cursor }
        return try query(
            filter.query, filter.since, end.at, end.position, end.chain, end.number, filter.poolId, filter.identityId, filter.method, limit
        ) {
            let record = AuditEntry($0)
            let cursor = AuditCursor(at: record.at, position: $0.int(10), chain: record.chain, number: record.number)
            return (record, $0.bytes(9), cursor)
        }
    }
}

/// The conditions that records must satisfy. Each of the queries reads a range of an index, newest first.
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

    package static let indexes: [SQL] = [
        "CREATE INDEX audit_of_identity ON audit (identity_id, at) WHERE identity_id IS NOT NULL",
        "CREATE INDEX audit_of_method ON audit (method, at, position)",
        "CREATE INDEX audit_of_pool ON audit (pool_id, at, position) WHERE pool_id IS NOT NULL",
    ]

    /// The query with the parameters since, end (four values), pool, identity, method and limit.
    fileprivate var query: SQL {
        switch (identityId, method, poolId) {
        case (.some, _, _):
            """
            SELECT chain, number, at, method, trace, pool_id, identity_id, subject, details, mac, position FROM audit
            WHERE at >= $1 AND (at, position, chain, number) < ($2, $3, $4, $5)
                AND (CAST($6 AS TEXT) IS NULL OR pool_id = $6)
                AND identity_id = $7
                AND (CAST($8 AS TEXT) IS NULL OR method = $8)
            ORDER BY at DESC, position DESC, chain DESC, number DESC LIMIT $9
            """
        case (nil, .some, _):
            """
            SELECT chain, number, at, method, trace, pool_id, identity_id, subject, details, mac, position FROM audit
            WHERE at >= $1 AND (at, position, chain, number) < ($2, $3, $4, $5)
                AND (CAST($6 AS TEXT) IS NULL OR pool_id = $6)
                AND (CAST($7 AS TEXT) IS NULL OR identity_id = $7)
                AND method = $8
            ORDER BY at DESC, position DESC, chain DESC, number DESC LIMIT $9
            """
        case (nil, nil, .some):
            """
            SELECT chain, number, at, method, trace, pool_id, identity_id, subject, details, mac, position FROM audit
            WHERE at >= $1 AND (at, position, chain, number) < ($2, $3, $4, $5)
                AND pool_id = $6
                AND (CAST($7 AS TEXT) IS NULL OR identity_id = $7)
                AND (CAST($8 AS TEXT) IS NULL OR method = $8)
            ORDER BY at DESC, position DESC, chain DESC, number DESC LIMIT $9
            """
        case (nil, nil, nil):
            """
            SELECT chain, number, at, method, trace, pool_id, identity_id, subject, details, mac, position FROM audit
            WHERE at >= $1 AND (at, position, chain, number) < ($2, $3, $4, $5)
                AND (CAST($6 AS TEXT) IS NULL OR pool_id = $6)
                AND (CAST($7 AS TEXT) IS NULL OR identity_id = $7)
                AND (CAST($8 AS TEXT) IS NULL OR method = $8)
            ORDER BY at DESC, position DESC, chain DESC, number DESC LIMIT $9
            """
        }
    }
}

/// The place of the last record of a page in the list of all records.
package struct AuditCursor: Sendable {
    let at: Int64
    let position: Int64
    let chain: String
    let number: Int64

    fileprivate init(at: Int64, position: Int64, chain: String, number: Int64) {
        self.at = at
        self.position = position
        self.chain = chain
        self.number = number
    }

    /// - Parameter text: A cursor as `text` returns it. Returns `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3)
        guard parts.count == 4, let at = Int64(parts[0]), let position = Int64(parts[1]), let number = Int64(parts[2]) else { return nil }
        self.init(at: at, position: position, chain: String(parts[3]), number: number)
    }

    package var text: String { "\(at) \(position) \(number) \(chain)" }
}

extension AuditEntry {
    init(_ row: Row) {
        var event = AuditEvent(
            method: row.string(3), poolId: row.optionalString(5), subject: row.optionalString(7),
            details: (try? JSONValue(parsing: row.string(8)))?.object ?? [:]
        ).about(identityId: row.optionalString(6))
        event.trace = row.optionalString(4)
        self.init(chain: row.string(0), number: row.int(1), at: row.int(2), event: event)
    }
}
