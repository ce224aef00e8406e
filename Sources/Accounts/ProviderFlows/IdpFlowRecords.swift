import ServiceContext
import Storage

/// The table of authorization flows.
package enum IdpFlowTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE idp_flow (
            id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, provider_id TEXT NOT NULL, kind TEXT NOT NULL, account_id TEXT,
            redirect_uri TEXT NOT NULL, is_heard BOOLEAN NOT NULL, token_endpoint TEXT, names_issuer BOOLEAN NOT NULL,
            scope TEXT NOT NULL, userinfo_endpoint TEXT,
            interval_seconds BIGINT NOT NULL, stage TEXT NOT NULL, sealed BYTEA, expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX idp_flow_expires ON idp_flow (expires_at)",
    ]

    /// The application for which a flow was started.
    package static let application: [SQL] = [
        "ALTER TABLE idp_flow ADD COLUMN client_id TEXT", "ALTER TABLE idp_flow ADD COLUMN application_id TEXT",
    ]
}

extension Transaction {
    func idpFlow(_ id: String) throws -> IdpFlow? {
        try queryOne(
            """
            SELECT id, tenant_id, provider_id, kind, account_id, redirect_uri, is_heard, token_endpoint, names_issuer, interval_seconds,
                stage, sealed, expires_at, scope, userinfo_endpoint, client_id, application_id
            FROM idp_flow WHERE id = $1
            """, id
        ) { row in
            var flow = IdpFlow(
                id: row.string(0), tenantId: row.string(1), providerId: row.string(2),
                kind: IdpFlow.Kind(rawValue: row.string(3)) ?? .code, accountId: row.optionalString(4),
                redirectUri: row.string(5), isHeard: row.bool(6), tokenEndpoint: row.optionalString(7),
                userinfoEndpoint: row.optionalString(14), namesIssuer: row.bool(8), scope: row.string(13), intervalSeconds: row.int(9),
                stage: IdpFlow.Stage(rawValue: row.string(10)) ?? .used,
                sealed: row.optionalBytes(11), expiresAt: row.int(12))
            if let clientId = row.optionalString(15) {
                flow.application = ApplicationName(id: row.optionalString(16) ?? "", clientId: clientId)
            }
            return flow
        }
    }

    func insert(_ flow: IdpFlow) throws {
        try execute(
            """
            INSERT INTO idp_flow (
                id, tenant_id, provider_id, kind, account_id, redirect_uri, is_heard, token_endpoint, names_issuer, interval_seconds,
                stage, sealed, expires_at, scope, userinfo_endpoint, client_id, application_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            """, flow.id, flow.tenantId, flow.providerId, flow.kind.rawValue, flow.accountId, flow.redirectUri, flow.isHeard,
            flow.tokenEndpoint, flow.namesIssuer, flow.intervalSeconds, flow.stage.rawValue, flow.sealed, flow.expiresAt, flow.scope,
            flow.userinfoEndpoint, flow.application?.clientId, flow.application?.id)
    }

    /// Moves a flow to another stage. If several calls try, only one succeeds. Returns `false` if the flow is not in the stage `old`.
    func move(_ flow: IdpFlow, from old: IdpFlow.Stage, to new: IdpFlow.Stage, sealed: [UInt8]?) throws -> Bool {
        try execute(
            "UPDATE idp_flow SET stage = $3, sealed = $4 WHERE id = $1 AND stage = $2", flow.id, old.rawValue, new.rawValue, sealed) == 1
    }

    /// Stores the authorization response received on the loopback address. Returns `false` if a response is already stored.
    func keep(_ callback: [UInt8], of id: String) throws -> Bool {
        try execute("UPDATE idp_flow SET sealed = $2 WHERE id = $1 AND stage = 'open' AND sealed IS NULL", id, callback) == 1
    }

    /// Increases the poll interval, as the provider requested with `slow_down`.
    func slowDown(_ id: String, to seconds: Int64) throws {
        try execute("UPDATE idp_flow SET interval_seconds = $2 WHERE id = $1", id, seconds)
    }
}

extension ExpiryJob {
    /// Removes expired authorization flows.
    package static let idpFlows = ExpiryJob(
        name: "flows to providers",
        hasWork: { tx, now in try tx.queryOne("SELECT 1 FROM idp_flow WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM idp_flow WHERE id IN (SELECT f.id FROM idp_flow f WHERE f.expires_at < $1 LIMIT $2)", now, limit)
        })
}
