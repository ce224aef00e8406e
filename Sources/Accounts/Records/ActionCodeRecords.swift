import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// A code for one action by email, sent in a link. The store has only its hash.
struct ActionCodeRecord: Sendable {
    let tenantId: String
    let purpose: ActionCodePurpose
    /// The address to which the code is sent: that of the account, or for `revertEmail` the previous one.
    let email: String
    let newEmail: String?
    /// The account, or `nil` for a sign-in.
    let accountId: String?
    let createdAt: Int64
    let expiresAt: Int64

    /// A new code of 320 bits.
    static func newCode(_ random: any RandomSource) -> String { Base64URL.encode(random.bytes(40)) }

    static func hash(_ code: String) -> [UInt8] { Hash.sha256(Array(code.utf8)) }
}

extension ActionCodePurpose {
    /// The time for which a code is valid, in seconds.
    var lifetimeSeconds: Int64 {
        switch self {
        case .passwordReset: 3600
        case .signIn: 21_600
        case .verifyEmail, .changeEmail: 259_200
        // The owner of a mailbox may read the notice days later.
        case .revertEmail: 604_800
        }
    }
}

/// The table of codes for actions by email.
package enum ActionCodeTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE action_code (
            hash BYTEA PRIMARY KEY, tenant_id TEXT NOT NULL, purpose TEXT NOT NULL, email TEXT NOT NULL, new_email TEXT,
            account_id TEXT REFERENCES account (id) ON DELETE CASCADE, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)
        """,
        "CREATE INDEX action_code_of_account ON action_code (account_id)",
        "CREATE INDEX action_code_expires ON action_code (expires_at)",
    ]
}

extension Transaction {
    func insert(_ record: ActionCodeRecord, code: String) throws {
        try execute(
            """
            INSERT INTO action_code (hash, tenant_id, purpose, email, new_email, account_id, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """, ActionCodeRecord.hash(code), record.tenantId, record.purpose.rawValue, record.email, record.newEmail, record.accountId,
            record.createdAt, record.expiresAt)
    }

    func actionCode(_ code: String) throws -> ActionCodeRecord? {
        try queryOne(
            "SELECT tenant_id, purpose, email, new_email, account_id, created_at, expires_at FROM action_code WHERE hash = $1",
            ActionCodeRecord.hash(code)
        ) { row in
            ActionCodePurpose(rawValue: row.string(1)).map {
                ActionCodeRecord(
                    tenantId: row.string(0), purpose: $0, email: row.string(2), newEmail: row.optionalString(3),
                    accountId: row.optionalString(4), createdAt: row.int(5), expiresAt: row.int(6))
            }
        } ?? nil
    }

    /// Deletes a code. Returns `false` if it was already used.
    func useActionCode(_ code: String) throws -> Bool {
        try execute("DELETE FROM action_code WHERE hash = $1", ActionCodeRecord.hash(code)) == 1
    }

    /// Deletes the codes of an account with a purpose.
    func deleteActionCodes(of accountId: String, _ purpose: ActionCodePurpose) throws {
        try execute("DELETE FROM action_code WHERE account_id = $1 AND purpose = $2", accountId, purpose.rawValue)
    }

    func deleteActionCodes(ofTenant tenantId: String) throws { try execute("DELETE FROM action_code WHERE tenant_id = $1", tenantId) }
}

extension ExpiryJob {
    /// Deletes expired action codes one day after their expiration, so that until then the error states the reason.
    package static let actionCodes = ExpiryJob(
        name: "action codes",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM action_code WHERE expires_at < $1 LIMIT 1", now - 86_400) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM action_code WHERE hash IN (SELECT a.hash FROM action_code a WHERE a.expires_at < $1 LIMIT $2)",
                now - 86_400, limit)
        })
}

/// The links in messages: the page of the application, with the action and its code in the query.
enum ActionLink {
    /// - Parameters:
    ///   - page: The page that performs actions.
    ///   - continueUrl: The URL to which the page continues.
    static func url(page: String, _ purpose: ActionCodePurpose, code: String, tenantId: String, continueUrl: String? = nil) -> String {
        var query = [("mode", purpose.rawValue), ("oobCode", code), ("tenantId", tenantId)]
        if let continueUrl { query.append(("continueUrl", continueUrl)) }
        let text = query.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        // A fragment comes after the query (RFC 3986 section 3).
        let parts = page.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let separator = parts[0].contains("?") ? parts[0].hasSuffix("?") || parts[0].hasSuffix("&") ? "" : "&" : "?"
        return parts[0] + separator + text + (parts.count > 1 ? "#" + parts[1] : "")
    }

    /// Whether a URL can be in a message: absolute, with `https`, or `http` on this machine, or the scheme of an app.
    static func isUsable(_ url: String) -> Bool {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E }) else { return false }
        let parts = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A,
            !["javascript", "data", "file", "vbscript", "blob", "about"].contains(parts[0].lowercased())
        else { return false }
        let host = parts[1].dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != ":" }
        guard parts[1].hasPrefix("//"), !host.isEmpty else { return false }
        return parts[0].lowercased() != "http" || ["localhost", "127.0.0.1", "[::1]"].contains(String(host))
    }
}

extension Transaction {
    /// - Throws: `ActionCodeInvalid`, `ActionCodeExpired`.
    func validActionCode(_ code: String, at now: Int64) throws -> ActionCodeRecord {
        guard let record = try actionCode(code) else { throw ActionCodeInvalid() }
        if record.expiresAt <= now { throw ActionCodeExpired(expiredAt: record.expiresAt) }
        return record
    }
}
