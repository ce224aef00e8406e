import Contract
import Crypto
import Platform
import Storage

/// The stored second factor of an account.
package struct FactorRecord: Sendable, Equatable {
    /// The kind of factor, which determines how its codes are delivered.
    package enum Kind: String, Sendable, CaseIterable { case totp, email, sms, passkey }

    package let id: String
    package let accountId: String
    package let kind: Kind
    package var displayName: String?
    /// The email address or phone number that receives the codes; `nil` for a TOTP app.
    package var target: String?
    /// The encrypted secret of a TOTP app.
    package var secret: [UInt8]?
    /// The time step of the last accepted TOTP code.
    package var lastStep: Int64?
    package let enrolledAt: Int64
    package var lastUsedAt: Int64?
    /// The credential ID of a passkey. Its record is the passkey, not a row of the table of factors.
    private(set) var credentialId: [UInt8]?

    package init(
        id: String, accountId: String, kind: Kind, displayName: String? = nil, target: String? = nil, secret: [UInt8]? = nil,
        lastStep: Int64? = nil, enrolledAt: Int64, lastUsedAt: Int64? = nil
    ) {
        self.id = id
        self.accountId = accountId
        self.kind = kind
        self.displayName = displayName
        self.target = target
        self.secret = secret
        self.lastStep = lastStep
        self.enrolledAt = enrolledAt
        self.lastUsedAt = lastUsedAt
    }

    /// The maximum number of factors per account.
    static let most = 5

    /// The name under which the secret is encrypted.
    package static func sealName(_ id: String) -> String { "second factor \(id)" }
}

/// The tables of second factors, of the factor state of flows, and of recovery codes, which are stored as HMACs.
package enum FactorTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE factor (
            id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, kind TEXT NOT NULL,
            display_name TEXT, target TEXT, secret BYTEA, last_step BIGINT, position BIGINT NOT NULL,
            enrolled_at BIGINT NOT NULL, last_used_at BIGINT)
        """,
        "CREATE INDEX factor_of_account ON factor (account_id, position)",
        """
        CREATE TABLE recovery_code (
            mac BYTEA PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE)
        """,
        "CREATE INDEX recovery_code_of_account ON recovery_code (account_id)",
        """
        CREATE TABLE factor_step (
            flow_id TEXT PRIMARY KEY REFERENCES flow (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, session_id TEXT,
            sign_in BYTEA, factor_id TEXT, draft BYTEA)
        """,
    ]
}

extension Transaction {
    /// Returns the factors of an account, oldest first; after them the passkeys that are second factors.
    package func factors(of accountId: String) throws -> [FactorRecord] {
        try query(
            """
            SELECT id, account_id, kind, display_name, target, secret, last_step, enrolled_at, last_used_at, NULL AS credential_id,
                0 AS part, position
            FROM factor WHERE account_id = $1
            UNION ALL
            SELECT NULL, account_id, 'passkey', name, NULL, NULL, NULL, created_at, last_used_at, credential_id, 1, position
            FROM passkey WHERE account_id = $1 AND usage = 'secondFactor'
            ORDER BY part, position, id
            """, accountId, row: FactorRecord.init)
    }

    package func insert(_ factor: FactorRecord) throws {
        try execute(
            """
            INSERT INTO factor (id, account_id, kind, display_name, target, secret, last_step, enrolled_at, last_used_at, position)
            VALUES (
                $1, $2, $3, $4, $5, $6, $7, $8, $9,
                (SELECT coalesce(max(f.position), 0) + 1 FROM factor f WHERE f.account_id = $2))
            """, factor.id, factor.accountId, factor.kind.rawValue, factor.displayName, factor.target, factor.secret, factor.lastStep,
            factor.enrolledAt, factor.lastUsedAt)
    }

    /// Records the time at which a factor was used, and the time step of its code.
    package func markUsed(_ factor: FactorRecord, step: Int64?, at now: Int64) throws {
        try execute("UPDATE factor SET last_used_at = $2, last_step = $3 WHERE id = $1", factor.id, now, step ?? factor.lastStep)
    }

    /// Deletes all factors and the recovery codes of an account.
    package func deleteFactors(of accountId: String) throws {
        try deleteCodeFactors(of: accountId)
        try execute("DELETE FROM passkey WHERE account_id = $1 AND usage = 'secondFactor'", accountId)
    }

    /// Deletes the factors of an account that are not passkeys, and its recovery codes.
    package func deleteCodeFactors(of accountId: String) throws {
        try execute("DELETE FROM factor WHERE account_id = $1", accountId)
        try setRecoveryCodes([], of: accountId)
    }

    func delete(_ factor: FactorRecord) throws {
        guard let credentialId = factor.credentialId else {
            try execute("DELETE FROM factor WHERE id = $1", factor.id)
            return
        }
        try execute("DELETE FROM passkey WHERE account_id = $1 AND credential_id = $2", factor.accountId, credentialId)
    }
}

extension FactorRecord {
    fileprivate init(_ row: Row) {
        self.init(
            id: row.optionalString(0) ?? Self.id(ofPasskey: row.bytes(9)), accountId: row.string(1),
            kind: Kind(rawValue: row.string(2)) ?? .totp, displayName: row.optionalString(3),
            target: row.optionalString(4), secret: row.optionalBytes(5), lastStep: row.optionalInt(6), enrolledAt: row.int(7),
            lastUsedAt: row.optionalInt(8))
        credentialId = row.optionalBytes(9)
    }

    /// A passkey as a second factor.
    init(_ passkey: PasskeyRecord) {
        self.init(
            id: Self.id(ofPasskey: passkey.credentialId), accountId: passkey.accountId, kind: .passkey, displayName: passkey.name,
            enrolledAt: passkey.createdAt, lastUsedAt: passkey.lastUsedAt)
        credentialId = passkey.credentialId
    }

    /// The factor ID of a passkey. Credential IDs can be longer than factor IDs.
    static func id(ofPasskey credentialId: [UInt8]) -> String { Base64URL.encode(Hash.sha256(credentialId).prefix(21)) }

    /// The factor as its user sees it.
    var answer: Factor {
        Factor(
            factorId: id, kind: FactorKind(rawValue: kind.rawValue) ?? .totp, displayName: displayName,
            email: kind == .email ? target : nil, phoneNumber: kind == .sms ? target : nil, enrolledAt: enrolledAt, lastUsedAt: lastUsedAt)
    }

    /// The factor as shown after the first factor, with the address masked.
    var hint: FactorHint {
        FactorHint(
            factorId: id, kind: FactorHint.Kind(rawValue: kind.rawValue) ?? .totp, displayName: displayName, sentTo: recipient?.masked)
    }

    /// The recipient of the codes; `nil` for a TOTP app.
    var recipient: Recipient? { target.flatMap { Recipient($0, kind) } }
}

extension Recipient {
    /// - Parameter target: An address or phone number that was validated at enrollment.
    init?(_ target: String, _ kind: FactorRecord.Kind) {
        switch kind {
        case .totp, .passkey: return nil
        case .email: self = .email(target)
        case .sms:
            guard let number = try? PhoneNumber(target) else { return nil }
            self = .sms(number)
        }
    }

    /// The masked form, for callers that may not own the address or number.
    var masked: String {
        switch self {
        case .email(let address): (try? Username(address))?.masked ?? "***"
        case .sms(let number): number.masked
        }
    }
}
