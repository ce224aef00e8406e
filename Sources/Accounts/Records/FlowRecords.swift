import JSON
import ServiceContext
import Storage

extension Transaction {
    func flow(_ id: String) throws -> Flow? {
        try queryOne(
            """
            SELECT
                id, tenant_id, kind, stage, step, username, account_id, is_decoy, is_verified, password, attributes, code, code_expires_at,
                code_sent_at, code_tries, sends, request, requested_at, idle_until, ends_at,
                language, ending, application, passkey
            FROM flow WHERE id = $1
            """, id, row: Flow.init)
    }

    /// Returns the flow that the same request started within `Flow.repeatSeconds`, if it is still in its first step.
    func flow(begunBy request: [UInt8], at now: Int64) throws -> Flow? {
        try queryOne(
            """
            SELECT
                id, tenant_id, kind, stage, step, username, account_id, is_decoy, is_verified, password, attributes, code, code_expires_at,
                code_sent_at, code_tries, sends, request, requested_at, idle_until, ends_at,
                language, ending, application, passkey
            FROM flow WHERE request = $1 AND step = 1 AND requested_at > $2 AND ending IS NULL
                AND (code_expires_at = 0 OR code_expires_at > $3) ORDER BY requested_at DESC, id LIMIT 1
            """, request, now - Flow.repeatSeconds, now, row: Flow.init)
    }

    func insert(_ flow: Flow) throws {
        try execute(
            """
            INSERT INTO flow (
                id, tenant_id, kind, stage, step, username, account_id, is_decoy, is_verified, password, attributes, code, code_expires_at,
                code_sent_at, code_tries, sends, request, requested_at, idle_until, ends_at,
                language, application, passkey)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
            """, flow.id, flow.tenantId, flow.kind.rawValue, flow.stage.rawValue, flow.step, flow.username, flow.accountId, flow.isDecoy,
            flow.isVerified, flow.password, JSONValue.object(flow.attributes).text, flow.code.mac, flow.code.expiresAt, flow.code.sentAt,
            flow.code.tries, flow.sends, flow.request, flow.requestedAt, flow.idleUntil, flow.endsAt, flow.language, flow.application.text,
            flow.passkey?.text)
    }

    func update(_ flow: Flow) throws {
        try execute(
            """
            UPDATE flow SET
                stage = $2, step = $3, is_verified = $4, password = $5, attributes = $6, code = $7, code_expires_at = $8, code_sent_at = $9,
                code_tries = $10, sends = $11, request = $12, requested_at = $13, idle_until = $14, ending = $15, passkey = $16,
                application = $17
            WHERE id = $1
            """, flow.id, flow.stage.rawValue, flow.step, flow.isVerified, flow.password, JSONValue.object(flow.attributes).text,
            flow.code.mac, flow.code.expiresAt, flow.code.sentAt, flow.code.tries, flow.sends, flow.request, flow.requestedAt,
            flow.idleUntil, flow.ending?.rawValue, flow.passkey?.text, flow.application.text)
    }

    /// Updates only the number of codes sent.
    func setSends(_ sends: Int64, of id: String) throws { try execute("UPDATE flow SET sends = $2 WHERE id = $1", id, sends) }

    func deleteFlow(_ id: String) throws { try execute("DELETE FROM flow WHERE id = $1", id) }
}

extension Flow {
    fileprivate init(_ row: Row) {
        self.init(
            id: row.string(0), tenantId: row.string(1), kind: Kind(rawValue: row.string(2)) ?? .signIn,
            stage: Stage(rawValue: row.string(3)) ?? .codeRequired, username: row.string(5), accountId: row.string(6),
            language: row.optionalString(20), request: row.bytes(16),
            requestedAt: row.int(19) - Flow.longestSeconds)
        step = row.int(4)
        isDecoy = row.bool(7)
        isVerified = row.bool(8)
        password = row.optionalBytes(9)
        attributes = (try? JSONValue(parsing: row.string(10)))?.object ?? [:]
        code = Code(mac: row.optionalBytes(11), expiresAt: row.int(12), sentAt: row.int(13), tries: row.int(14))
        sends = row.int(15)
        requestedAt = row.int(17)
        idleUntil = row.int(18)
        ending = row.optionalString(21).flatMap(ExitStatus.init(rawValue:))
        application = FlowApplication(text: row.optionalString(22))
        passkey = row.optionalString(23).flatMap(SignUpPasskey.init(text:))
    }
}

extension ExpiryJob {
    /// Deletes expired flows five minutes after they end, so that late requests still get a specific error.
    package static let flows = ExpiryJob(
        name: "flows",
        hasWork: { tx, now in try tx.queryOne("SELECT 1 FROM flow WHERE ends_at < $1 LIMIT 1", now - 300) { _ in true } ?? false },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM flow WHERE id IN (SELECT f.id FROM flow f WHERE f.ends_at < $1 ORDER BY f.ends_at LIMIT $2)", now - 300, limit)
        })

    /// Deletes expired counters of codes and failures.
    package static let counts = ExpiryJob(
        name: "counts of codes and failures",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM failure_count WHERE expires_at < $1 LIMIT 1", now) { _ in true }
                ?? tx.queryOne("SELECT 1 FROM send_count WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            let failures = try tx.execute(
                """
                DELETE FROM failure_count WHERE subject IN (SELECT f.subject FROM failure_count f WHERE f.expires_at < $1 LIMIT $2)
                """, now, limit)
            let sends = try tx.execute(
                "DELETE FROM send_count WHERE address IN (SELECT s.address FROM send_count s WHERE s.expires_at < $1 LIMIT $2)", now, limit)
            return max(failures, sends)
        })
}
