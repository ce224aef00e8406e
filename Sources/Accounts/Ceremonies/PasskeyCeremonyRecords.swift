import Contract
import Crypto
import ServiceContext
import Storage

/// A started registration or authentication: one challenge, which one response spends.
struct StoredCeremony: Sendable {
    enum Kind: String, Sendable {
        case registration, authentication
        /// The enrollment and the use of a second factor. The ID of the ceremony is that of its flow.
        case enrollment, challenge
    }

    enum Stage: String, Sendable {
        case open
        /// A response was refused.
        case refused
        /// A response was accepted.
        case finished
        /// A response was accepted, and its pending token was not used yet.
        case pending
    }

    static let lifetimeSeconds: Int64 = 300
    /// The lifetime of a challenge that waits in an open login page.
    static let conditionalLifetimeSeconds: Int64 = 3600

    let id: String
    let tenantId: String
    let kind: Kind
    /// The account that is known in advance.
    var accountId: String?
    /// The challenge in base64url.
    var challenge: String
    /// The user handle of a registration.
    var userHandle: [UInt8] = []
    var isConditional = false
    var requiresUserVerification = false
    /// Whether the caller named the user by address.
    var isByUsername = false
    /// The credential IDs that the browser was offered. Empty if it may offer any.
    var allowed: [String] = []
    /// The algorithms that were offered in a registration.
    var algorithms: [Int64] = []
    let expiresAt: Int64
    /// The sign-up of which the registration is a step.
    var flowId: String?
    /// The session that began a registration, which ends with it.
    var sessionId: String?
    var stage = Stage.open
    /// The HMAC of the request that was accepted.
    var request: [UInt8] = []
    var credentialId: [UInt8] = []
    var finishedAt: Int64 = 0
}

/// The table of ceremonies.
package enum PasskeyCeremonyTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE passkey_ceremony (
            id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, kind TEXT NOT NULL, account_id TEXT, challenge TEXT NOT NULL,
            user_handle BYTEA NOT NULL, conditional BOOLEAN NOT NULL, requires_verification BOOLEAN NOT NULL, by_username BOOLEAN NOT NULL,
            allowed TEXT NOT NULL, algorithms TEXT NOT NULL, expires_at BIGINT NOT NULL, stage TEXT NOT NULL, request BYTEA NOT NULL,
            credential_id BYTEA NOT NULL, finished_at BIGINT NOT NULL)
        """,
        "CREATE INDEX passkey_ceremony_expires ON passkey_ceremony (expires_at)",
    ]
}

extension Transaction {
    func ceremony(_ id: String) throws -> StoredCeremony? {
        try queryOne(
            """
            SELECT id, tenant_id, kind, account_id, challenge, user_handle, conditional, requires_verification, by_username, allowed,
                algorithms, expires_at, stage, request, credential_id, finished_at, flow_id, session_id
            FROM passkey_ceremony WHERE id = $1
            """, id
        ) { row in
            var ceremony = StoredCeremony(
                id: row.string(0), tenantId: row.string(1), kind: StoredCeremony.Kind(rawValue: row.string(2)) ?? .authentication,
                accountId: row.optionalString(3), challenge: row.string(4), userHandle: row.bytes(5), isConditional: row.bool(6),
                requiresUserVerification: row.bool(7), isByUsername: row.bool(8),
                allowed: row.string(9).split(separator: " ").map(String.init),
                algorithms: row.string(10).split(separator: " ").compactMap { Int64($0) }, expiresAt: row.int(11))
            ceremony.flowId = row.optionalString(16)
            ceremony.sessionId = row.optionalString(17)
            ceremony.stage = StoredCeremony.Stage(rawValue: row.string(12)) ?? .refused
            ceremony.request = row.bytes(13)
            ceremony.credentialId = row.bytes(14)
            ceremony.finishedAt = row.int(15)
            return ceremony
        }
    }

    func insert(_ ceremony: StoredCeremony) throws {
        try execute(
            """
            INSERT INTO passkey_ceremony (
                id, tenant_id, kind, account_id, challenge, user_handle, conditional, requires_verification, by_username, allowed,
                algorithms, expires_at, stage, request, credential_id, finished_at, flow_id, session_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
            """, ceremony.id, ceremony.tenantId, ceremony.kind.rawValue, ceremony.accountId, ceremony.challenge, ceremony.userHandle,
            ceremony.isConditional, ceremony.requiresUserVerification, ceremony.isByUsername, ceremony.allowed.joined(separator: " "),
            ceremony.algorithms.map(String.init).joined(separator: " "), ceremony.expiresAt, ceremony.stage.rawValue, ceremony.request,
            ceremony.credentialId, ceremony.finishedAt, ceremony.flowId, ceremony.sessionId)
    }

    /// Stores the ceremony of a flow in place of the earlier one.
    func replace(with ceremony: StoredCeremony) throws {
        try execute("DELETE FROM passkey_ceremony WHERE id = $1", ceremony.id)
        try insert(ceremony)
    }

    /// Marks the challenge as used. If several requests do so, only one succeeds.
    ///
    /// - Throws: `FlowUsed` if the challenge is already spent.
    func finish(_ ceremony: StoredCeremony, request: [UInt8] = [], credentialId: [UInt8] = [], at now: Int64) throws {
        let isFirst =
            try execute(
                """
                UPDATE passkey_ceremony SET stage = 'finished', request = $2, credential_id = $3, finished_at = $4
                WHERE id = $1 AND stage = 'open'
                """, ceremony.id, request, credentialId, now) == 1
        guard isFirst else { throw FlowUsed() }
    }

    /// Spends the challenge of a ceremony whose response was refused.
    func refuse(_ ceremony: StoredCeremony, from stage: StoredCeremony.Stage = .open) throws {
        try execute("UPDATE passkey_ceremony SET stage = 'refused' WHERE id = $1 AND stage = $2", ceremony.id, stage.rawValue)
    }
}

extension ExpiryJob {
    /// Removes expired ceremonies.
    package static let passkeyCeremonies = ExpiryJob(
        name: "passkey ceremonies",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM passkey_ceremony WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM passkey_ceremony WHERE id IN (SELECT c.id FROM passkey_ceremony c WHERE c.expires_at < $1 LIMIT $2)", now,
                limit)
        })
}
