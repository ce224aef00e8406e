import Contract
import JSON
import ServiceContext
import SigningKeys
import Storage

/// A session of a signed-in user, with its family of refresh tokens.
package struct SessionRecord: Sendable {
    /// The session ID in the tokens of `test.token`. No such session exists; a testing store accepts the tokens nevertheless.
    package static let ofTestTokens = "test.token"

    package let id: String
    package let accountId: String
    /// The authentication methods of the sign-in (RFC 8176).
    package let amr: [String]
    /// The sign-in provider: `password`, `code`, `anonymous`, `custom`, or the ID of an identity provider.
    package let provider: String
    /// Claims that only the tokens of this session contain.
    package let claims: JSONObject
    /// The second factor that was verified, if any.
    package let secondFactor: VerifiedFactor?
    package let authenticatedAt: Int64
    package let createdAt: Int64
    package var lastUsedAt: Int64
    package var expiresAt: Int64
    /// The audience and scopes granted at sign-in.
    var grant = AccessGrant()
    /// The credential ID of the passkey that began the session, if any.
    var passkeyId: String?
    /// The strength of the passkey that was used, if any.
    var acr: String?

    package init(
        id: String, accountId: String, amr: [String], provider: String, claims: JSONObject, secondFactor: VerifiedFactor?,
        authenticatedAt: Int64, createdAt: Int64, lastUsedAt: Int64, expiresAt: Int64, grant: AccessGrant = AccessGrant()
    ) {
        self.id = id
        self.accountId = accountId
        self.amr = amr
        self.provider = provider
        self.claims = claims
        self.secondFactor = secondFactor
        self.authenticatedAt = authenticatedAt
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.expiresAt = expiresAt
        self.grant = grant
    }
}

/// A stored refresh token.
package struct RefreshTokenRecord: Sendable {
    let mac: [UInt8]
    package let sessionId: String
    /// The HMAC of the refresh token whose use created this one.
    let parent: [UInt8]?
    package var usedAt: Int64?
    package let expiresAt: Int64
}

/// A method that ends the sessions of an account and returns tokens of a new one. The raw value identifies it in revocation records.
enum SessionEnd: String, CaseIterable {
    case linkedPassword = "account.link"
    case changedPassword = "account.changePassword"
    case enrolledFactor = "mfa.confirm"

    /// The reason in the error for a token of an ended session.
    var reason: String {
        let change =
            switch self {
            case .linkedPassword: "gave the account a password"
            case .changedPassword: "changed the password"
            case .enrolledFactor: "enrolled a second factor"
            }
        return "\(rawValue) \(change) and ended all earlier sessions; its result contains the new tokens"
    }
}

extension SessionRecord {
    /// The proof of the sign-in, for a session that continues this one.
    package var proof: SignInProof {
        var proof = SignInProof(
            amr: amr, provider: provider, claims: claims, authenticatedAt: authenticatedAt, secondFactor: secondFactor)
        proof.passkeyId = passkeyId
        proof.acr = acr
        return proof
    }
}

extension Transaction {
    /// Returns a session, or `nil` if it does not exist. A session of a deleted application has ended, also one that was stored at the
    /// moment of the deletion.
    package func session(_ id: String) throws -> SessionRecord? {
        try queryOne(
            """
            SELECT
                id, account_id, amr, provider, claims, authenticated_at, created_at, last_used_at, expires_at, second_factor, factor_id,
                scope, audience, passkey_id, client_id, application_id, acr
            FROM session
            WHERE id = $1
                AND (application_id IS NULL OR EXISTS (SELECT 1 FROM application a WHERE a.id = session.application_id))
            """, id,
            row: SessionRecord.init)
    }

    func sessions(of accountId: String, at now: Int64, limit: Int) throws -> [SessionRecord] {
        try query(
            """
            SELECT
                id, account_id, amr, provider, claims, authenticated_at, created_at, last_used_at, expires_at, second_factor, factor_id,
                scope, audience, passkey_id, client_id, application_id, acr
            FROM session
            WHERE account_id = $1 AND expires_at > $2
                AND (application_id IS NULL OR EXISTS (SELECT 1 FROM application a WHERE a.id = session.application_id))
            ORDER BY created_at DESC, id LIMIT $3
            """, accountId, now, limit, row: SessionRecord.init)
    }

    func insert(_ session: SessionRecord) throws {
        try execute(
            """
            INSERT INTO session (
                id, account_id, amr, provider, claims, authenticated_at, created_at, last_used_at, expires_at, second_factor, factor_id,
                scope, audience, passkey_id, client_id, application_id, acr)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            """, session.id, session.accountId, session.amr.joined(separator: " "), session.provider,
            JSONValue.object(session.claims).text, session.authenticatedAt, session.createdAt, session.lastUsedAt, session.expiresAt,
            session.secondFactor?.kind, session.secondFactor?.factorId, session.grant.scopes.text, session.grant.audience,
            session.passkeyId, session.grant.application?.clientId, session.grant.application?.id, session.acr)
    }

    func touchSession(_ id: String, usedAt now: Int64, expiresAt: Int64) throws {
        try execute("UPDATE session SET last_used_at = $2, expires_at = $3 WHERE id = $1", id, now, expiresAt)
    }

    /// Deletes a session with its refresh tokens. Returns `false` if it does not exist.
    package func deleteSession(_ id: String) throws -> Bool { try execute("DELETE FROM session WHERE id = $1", id) == 1 }

    /// Ends all sessions of an account except one, and returns their number.
    @discardableResult
    func deleteSessions(of accountId: String, except id: String) throws -> Int {
        try execute("DELETE FROM session WHERE account_id = $1 AND id <> $2", accountId, id)
    }

    /// Ends all sessions of an account and returns their number.
    package func deleteSessions(of accountId: String) throws -> Int {
        let count = try execute("DELETE FROM session WHERE account_id = $1", accountId)
        // The audit record of the change adds the event.
        if count > 0 { remark(accountId) }
        return count
    }

    /// Ends all sessions of an account on behalf of a method that returns new tokens. Stores the reason until the tokens of these sessions
    /// have expired.
    func deleteSessions(of accountId: String, by end: SessionEnd, at now: Int64) throws {
        try execute(
            """
            INSERT INTO revocation (kind, target, issued_before, recorded_at, expires_at)
            SELECT CAST($2 AS TEXT), s.id, CAST($3 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT) FROM session s WHERE s.account_id = $1
            ON CONFLICT (kind, target) DO NOTHING
            """, accountId, end.rawValue, now, now + KeyRing.longestTokenSeconds)
        _ = try deleteSessions(of: accountId)
    }

    /// Returns the reason tokens of a session that no longer exists are revoked.
    func loss(ofSession id: String) throws -> TokenRevoked {
        for end in SessionEnd.allCases {
            let isFound = try queryOne("SELECT 1 FROM revocation WHERE kind = $1 AND target = $2", end.rawValue, id) { _ in true } ?? false
            if isFound { return TokenRevoked(reason: end.reason) }
        }
        return TokenRevoked(reason: "its session was ended")
    }

    func insert(_ token: RefreshTokenRecord) throws {
        try execute(
            "INSERT INTO refresh_token (mac, session_id, parent, used_at, expires_at) VALUES ($1, $2, $3, $4, $5)", token.mac,
            token.sessionId, token.parent, token.usedAt, token.expiresAt)
    }

    package func refreshToken(_ mac: [UInt8]) throws -> RefreshTokenRecord? {
        try queryOne("SELECT mac, session_id, parent, used_at, expires_at FROM refresh_token WHERE mac = $1", mac) {
            RefreshTokenRecord(
                mac: $0.bytes(0), sessionId: $0.string(1), parent: $0.optionalBytes(2), usedAt: $0.optionalInt(3), expiresAt: $0.int(4))
        }
    }

    func markUsed(_ mac: [UInt8], at now: Int64) throws {
        try execute("UPDATE refresh_token SET used_at = $2 WHERE mac = $1 AND used_at IS NULL", mac, now)
    }

    /// Returns whether a successor of the refresh token was used.
    func isSuccessorUsed(of mac: [UInt8]) throws -> Bool {
        try queryOne("SELECT 1 FROM refresh_token WHERE parent = $1 AND used_at IS NOT NULL LIMIT 1", mac) { _ in true } ?? false
    }

    /// Deletes the expired refresh tokens of a session, so that long-lived sessions do not accumulate them.
    func forgetRefreshTokens(of sessionId: String, before moment: Int64) throws {
        try execute("DELETE FROM refresh_token WHERE session_id = $1 AND expires_at <= $2", sessionId, moment)
    }
}

extension SessionRecord {
    fileprivate init(_ row: Row) {
        let amr = row.string(2).split(separator: " ").map(String.init)
        self.init(
            id: row.string(0), accountId: row.string(1), amr: amr,
            provider: row.string(3), claims: (try? JSONValue(parsing: row.string(4)))?.object ?? [:],
            secondFactor: row.optionalString(9).map {
                VerifiedFactor(kind: $0, factorId: row.optionalString(10) ?? "", amr: amr, acr: row.optionalString(16))
            },
            authenticatedAt: row.int(5), createdAt: row.int(6), lastUsedAt: row.int(7), expiresAt: row.int(8),
            grant: AccessGrant(audience: row.optionalString(12), scopes: Scopes(row.string(11))))
        if let clientId = row.optionalString(14), let id = row.optionalString(15) {
            grant.application = ApplicationName(id: id, clientId: clientId)
        }
        passkeyId = row.optionalString(13)
        acr = row.optionalString(16)
    }
}

extension ExpiryJob {
    /// Deletes expired sessions after their last token has expired.
    package static let sessions = ExpiryJob(
        name: "sessions",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM session WHERE expires_at < $1 LIMIT 1", now - KeyRing.longestTokenSeconds) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM session WHERE id IN (SELECT s.id FROM session s WHERE s.expires_at < $1 LIMIT $2)",
                now - KeyRing.longestTokenSeconds, limit)
        })
}
