import Contract
import Platform
import Storage
import WebAuthn

/// The stored passkey of an account.
package struct PasskeyRecord: Sendable, Equatable {
    /// The purpose of a passkey.
    package enum Usage: String, Sendable { case signIn, secondFactor }

    package let tenantId: String
    package let credentialId: [UInt8]
    package var accountId: String
    package var name: String
    /// The COSE key, as the bytes that came.
    package let publicKey: [UInt8]
    let algorithm: Int64
    package var counter: Int64
    package let userHandle: [UInt8]
    package let transports: [String]
    package let isBackupEligible: Bool
    package var isBackedUp: Bool
    package var isUserVerified: Bool
    let isDiscoverable: Bool?
    package let aaguid: [UInt8]
    let attestationFormat: String
    let attestationTrust: String
    package let relyingPartyId: String
    package let createdAt: Int64
    package var lastUsedAt: Int64?
    package var usage = Usage.signIn
    /// The name of the model in the metadata of authenticators.
    var authenticatorName: String?
    /// Whether the metadata states that hardware protects the key; `nil` without metadata.
    var isHardwareProtected: Bool?

    package init(
        tenantId: String, credentialId: [UInt8], accountId: String, name: String, publicKey: [UInt8], algorithm: Int64, counter: Int64,
        userHandle: [UInt8], transports: [String], isBackupEligible: Bool, isBackedUp: Bool, isUserVerified: Bool, isDiscoverable: Bool?,
        aaguid: [UInt8], attestationFormat: String, attestationTrust: String, relyingPartyId: String, createdAt: Int64,
        lastUsedAt: Int64? = nil
    ) {
        self.tenantId = tenantId
        self.credentialId = credentialId
        self.accountId = accountId
        self.name = name
        self.publicKey = publicKey
        self.algorithm = algorithm
        self.counter = counter
        self.userHandle = userHandle
        self.transports = transports
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.isUserVerified = isUserVerified
        self.isDiscoverable = isDiscoverable
        self.aaguid = aaguid
        self.attestationFormat = attestationFormat
        self.attestationTrust = attestationTrust
        self.relyingPartyId = relyingPartyId
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }

    /// The maximum number of passkeys per account.
    static let most = 20

    /// The credential ID as it appears on the wire.
    package var id: String { Base64URL.encode(credentialId) }

    /// The passkey as its user sees it.
    var answer: Passkey {
        Passkey(
            credentialId: id, name: name, usage: usage == .signIn ? .signIn : .secondFactor, algorithm: algorithm, aaguid: aaguidText,
            authenticatorName: authenticatorName, transports: transports,
            backupEligible: isBackupEligible, backupState: isBackedUp, userVerified: isUserVerified, discoverable: isDiscoverable,
            attestation: .init(format: attestationFormat, trust: .init(rawValue: attestationTrust) ?? .none),
            relyingPartyId: relyingPartyId, createdAt: createdAt, lastUsedAt: lastUsedAt)
    }

    /// The model as a UUID.
    package var aaguidText: String {
        let digits = Hex.encode(aaguid)
        guard aaguid.count == 16 else { return digits }
        var text: [UInt8] = []
        for (place, digit) in digits.utf8.enumerated() {
            if place == 8 || place == 12 || place == 16 || place == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The tables of passkeys and of the user handles of accounts.
package enum PasskeyTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE passkey (
            tenant_id TEXT NOT NULL, credential_id BYTEA NOT NULL, account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            name TEXT NOT NULL, usage TEXT NOT NULL, public_key BYTEA NOT NULL, algorithm BIGINT NOT NULL, counter BIGINT NOT NULL,
            user_handle BYTEA NOT NULL, transports TEXT NOT NULL, backup_eligible BOOLEAN NOT NULL, backed_up BOOLEAN NOT NULL,
            user_verified BOOLEAN NOT NULL, discoverable BIGINT, aaguid BYTEA NOT NULL, attestation_format TEXT NOT NULL,
            attestation_trust TEXT NOT NULL, attestation_object BYTEA NOT NULL, relying_party_id TEXT NOT NULL, position BIGINT NOT NULL,
            created_at BIGINT NOT NULL, last_used_at BIGINT, PRIMARY KEY (tenant_id, credential_id))
        """,
        "CREATE INDEX passkey_of_account ON passkey (account_id, position)",
        """
        CREATE TABLE passkey_user (
            account_id TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE, handle BYTEA NOT NULL)
        """,
        "ALTER TABLE session ADD COLUMN passkey_id TEXT",
    ]

    /// The columns for the metadata, the strength of sessions, and the passkeys of pending sign-ups.
    package static let metadata: [SQL] = [
        "ALTER TABLE passkey ADD COLUMN authenticator_name TEXT",
        "ALTER TABLE passkey ADD COLUMN hardware BIGINT",
        "ALTER TABLE session ADD COLUMN acr TEXT",
        "ALTER TABLE passkey_ceremony ADD COLUMN flow_id TEXT",
        "ALTER TABLE passkey_ceremony ADD COLUMN session_id TEXT",
        "ALTER TABLE flow ADD COLUMN passkey TEXT",
    ]
}

extension Transaction {
    /// Returns the passkeys of an account, oldest first.
    package func passkeys(of accountId: String) throws -> [PasskeyRecord] {
        try query(
            """
            SELECT tenant_id, credential_id, account_id, name, public_key, algorithm, counter, user_handle, transports, backup_eligible,
                backed_up, user_verified, discoverable, aaguid, attestation_format, attestation_trust, relying_party_id, created_at,
                last_used_at, usage, authenticator_name, hardware
            FROM passkey WHERE account_id = $1 ORDER BY position, credential_id
            """, accountId, row: PasskeyRecord.init)
    }

    /// Returns the passkeys of an account that browsers still offer: those of the tenant's present relying party.
    func passkeys(of accountId: String, usable tenant: TenantRecord) throws -> [PasskeyRecord] {
        guard let relyingPartyId = tenant.settings.passkeys?.relyingPartyId else { return [] }
        return try passkeys(of: accountId).filter { $0.relyingPartyId == relyingPartyId }
    }

    package func passkey(_ credentialId: [UInt8], in tenantId: String) throws -> PasskeyRecord? {
        try queryOne(
            """
            SELECT tenant_id, credential_id, account_id, name, public_key, algorithm, counter, user_handle, transports, backup_eligible,
                backed_up, user_verified, discoverable, aaguid, attestation_format, attestation_trust, relying_party_id, created_at,
                last_used_at, usage, authenticator_name, hardware
            FROM passkey WHERE tenant_id = $1 AND credential_id = $2
            """, tenantId, credentialId, row: PasskeyRecord.init)
    }

    /// Returns whether the tenant has passkeys.
    package func hasPasskeys(in tenantId: String) throws -> Bool {
        try queryOne("SELECT 1 FROM passkey WHERE tenant_id = $1 LIMIT 1", tenantId) { _ in true } ?? false
    }

    /// Adds a passkey. Returns `false` if the tenant already has its credential ID.
    package func insert(_ passkey: PasskeyRecord, attestationObject: [UInt8]) throws -> Bool {
        try execute(
            """
            INSERT INTO passkey (
                tenant_id, credential_id, account_id, name, public_key, algorithm, counter, user_handle, transports,
                backup_eligible, backed_up, user_verified, discoverable, aaguid, attestation_format, attestation_trust,
                attestation_object, relying_party_id, created_at, usage, authenticator_name, hardware, last_used_at, position)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
                (SELECT coalesce(max(p.position), 0) + 1 FROM passkey p WHERE p.account_id = $3))
            ON CONFLICT (tenant_id, credential_id) DO NOTHING
            """, passkey.tenantId, passkey.credentialId, passkey.accountId, passkey.name, passkey.publicKey, passkey.algorithm,
            passkey.counter, passkey.userHandle, passkey.transports.joined(separator: " "), passkey.isBackupEligible, passkey.isBackedUp,
            passkey.isUserVerified, passkey.isDiscoverable.map { $0 ? 1 as Int64 : 0 }, passkey.aaguid, passkey.attestationFormat,
            passkey.attestationTrust, attestationObject, passkey.relyingPartyId, passkey.createdAt, passkey.usage.rawValue,
            passkey.authenticatorName, passkey.isHardwareProtected.map { $0 ? 1 as Int64 : 0 }, passkey.lastUsedAt) == 1
    }

    /// Records a use of a passkey. Returns `false` if its counter does not grow: another request was first, or the passkey was cloned.
    func markUsed(_ passkey: PasskeyRecord, _ assertion: AcceptedAssertion, isUserVerified: Bool, at now: Int64) throws -> Bool {
        try execute(
            """
            UPDATE passkey SET counter = $3, backed_up = $4, user_verified = $5, last_used_at = $6
            WHERE tenant_id = $1 AND credential_id = $2 AND (counter < $3 OR (counter = 0 AND $3 = 0))
            """, passkey.tenantId, passkey.credentialId, Int64(assertion.counter), assertion.backedUp, isUserVerified, now) == 1
    }

    func rename(_ passkey: PasskeyRecord) throws {
        try execute(
            "UPDATE passkey SET name = $3 WHERE tenant_id = $1 AND credential_id = $2", passkey.tenantId, passkey.credentialId,
            passkey.name)
    }

    /// Deletes a passkey and ends the sessions of its account in which it was used.
    func delete(_ passkey: PasskeyRecord) throws {
        try execute("DELETE FROM passkey WHERE tenant_id = $1 AND credential_id = $2", passkey.tenantId, passkey.credentialId)
        try execute(
            "DELETE FROM session WHERE account_id = $1 AND (passkey_id = $2 OR factor_id = $3)", passkey.accountId, passkey.id,
            FactorRecord.id(ofPasskey: passkey.credentialId))
    }

    /// Deletes all passkeys with which the user of an account signs in, because another user may have registered them. Those that are
    /// second factors are treated like the other factors.
    package func deletePasskeys(of accountId: String) throws {
        try execute("DELETE FROM passkey WHERE account_id = $1 AND usage = 'signIn'", accountId)
        try execute("DELETE FROM passkey_user WHERE account_id = $1", accountId)
    }

    /// Moves the passkeys of an account to another one. They keep their user handles, which the authenticators store.
    func movePasskeys(of source: String, to target: String) throws {
        try execute(
            """
            UPDATE passkey SET
                account_id = $2,
                position = position + (SELECT coalesce(max(p.position), 0) FROM passkey p WHERE p.account_id = $2)
            WHERE account_id = $1
            """, source, target)
    }

    /// Returns whether the passkey of a sign-up is registered already.
    func isPasskeyTaken(of flow: Flow) throws -> Bool {
        try flow.passkey?.passkey.map { try passkey($0.credentialId, in: flow.tenantId) != nil } ?? false
    }

    /// Adds the passkey of a sign-up to the account that was just created.
    func registerPasskey(of flow: Flow) throws {
        guard let pending = flow.passkey, let passkey = pending.passkey else { return }
        try setUserHandle(pending.userHandle, of: flow.accountId)
        guard try insert(passkey, attestationObject: pending.attestationObject) else { throw SerializationConflict() }
    }

    func userHandle(of accountId: String) throws -> [UInt8]? {
        try queryOne("SELECT handle FROM passkey_user WHERE account_id = $1", accountId) { $0.bytes(0) }
    }

    package func setUserHandle(_ handle: [UInt8], of accountId: String) throws {
        try execute("INSERT INTO passkey_user (account_id, handle) VALUES ($1, $2)", accountId, handle)
    }
}

extension PasskeyRecord {
    fileprivate init(_ row: Row) {
        self.init(
            tenantId: row.string(0), credentialId: row.bytes(1), accountId: row.string(2), name: row.string(3), publicKey: row.bytes(4),
            algorithm: row.int(5), counter: row.int(6), userHandle: row.bytes(7),
            transports: row.string(8).split(separator: " ").map(String.init), isBackupEligible: row.bool(9), isBackedUp: row.bool(10),
            isUserVerified: row.bool(11), isDiscoverable: row.optionalInt(12).map { $0 != 0 }, aaguid: row.bytes(13),
            attestationFormat: row.string(14), attestationTrust: row.string(15), relyingPartyId: row.string(16), createdAt: row.int(17),
            lastUsedAt: row.optionalInt(18))
        usage = Usage(rawValue: row.string(19)) ?? .signIn
        authenticatorName = row.optionalString(20)
        isHardwareProtected = row.optionalInt(21).map { $0 != 0 }
    }
}
