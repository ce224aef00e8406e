import Contract
import JSON
import Storage

/// A person's account in a tenant, as the store holds it (native-auth.md 1.5).
package struct AccountRecord: Sendable {
    /// How its owner was signed up, and signs in ever after.
    package enum Method: String, Sendable { case password, code, federated, anonymous, custom }

    package let id: String
    package let tenantId: String
    /// The address that it signs in with, as it was typed at sign-up; nil for one without an address of its own.
    package var username: String?
    package var email: String?
    package var isEmailVerified: Bool
    package var method: Method
    /// Sealed; nil for one that signs in with codes or elsewhere.
    package var password: [UInt8]?
    package var attributes: JSONObject
    /// Custom claims of its tokens.
    package var claims = JSONObject()
    package var isDisabled = false
    package var mustChangePassword = false
    /// Tokens and sessions that began before are over.
    var validAfter: Int64 = 0
    package let createdAt: Int64
    package var updatedAt: Int64
    package var lastSignInAt: Int64?

    /// Whether its owner signs in here, with a password or with codes.
    var hasOwnWayIn: Bool { method == .password || method == .code }

    package init(
        id: String, tenantId: String, username: String? = nil, email: String? = nil, isEmailVerified: Bool, method: Method,
        password: [UInt8]? = nil, attributes: JSONObject, claims: JSONObject = JSONObject(), isDisabled: Bool = false,
        mustChangePassword: Bool = false, validAfter: Int64 = 0, createdAt: Int64, updatedAt: Int64, lastSignInAt: Int64? = nil
    ) {
        self.id = id
        self.tenantId = tenantId
        self.username = username
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.method = method
        self.password = password
        self.attributes = attributes
        self.claims = claims
        self.isDisabled = isDisabled
        self.mustChangePassword = mustChangePassword
        self.validAfter = validAfter
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.lastSignInAt = lastSignInAt
    }

    /// What codes to it and steps for it are counted by: the tenant and what it signs in by.
    var address: String { "\(tenantId)/\(Username.fold(username ?? ""))" }

    /// Whether its owner can set a password with a code that is mailed to the address: in place of the one there is, or because there is
    /// no way in of its own and whoever made the account may not be the address's owner (firebase.md 2.10, 2.11).
    func canReset(in tenant: TenantRecord) -> Bool {
        password != nil || (!hasOwnWayIn && tenant.settings.localAccountMethod != .emailCode)
    }

    /// Makes the address, which was just shown to be its owner's, the way into an account: providers that somebody else linked lead
    /// here no more (firebase.md 2.11).
    mutating func reclaim(_ method: Method, at now: Int64, in tx: Transaction) throws {
        self.method = method
        isEmailVerified = true
        updatedAt = now
        try tx.deleteAccountLogins(of: id)
        _ = try tx.deleteSessions(of: id)
    }

    /// What wrong passwords and codes are counted by.
    package var lockoutSubject: String { "account/\(id)" }
}

extension Transaction {
    package func account(_ id: String) throws -> AccountRecord? {
        try queryOne(
            """
            SELECT
                id, tenant_id, username, email, email_verified, method, password, attributes, claims, disabled, must_change_password,
                valid_after, created_at, updated_at, last_sign_in_at
            FROM account WHERE id = $1
            """, id, row: AccountRecord.init)
    }

    /// The account that signs in with an address.
    package func account(named name: String, in tenantId: String) throws -> AccountRecord? {
        try queryOne(
            """
            SELECT
                a.id, a.tenant_id, a.username, a.email, a.email_verified, a.method, a.password, a.attributes, a.claims, a.disabled,
                a.must_change_password, a.valid_after, a.created_at, a.updated_at, a.last_sign_in_at
            FROM account_name n JOIN account a ON a.id = n.account_id WHERE n.tenant_id = $1 AND n.kind = 'email' AND n.name = $2
            """, tenantId, Username.fold(name), row: AccountRecord.init)
    }

    /// The account that a flow is of, for as long as the flow's address is its own. Until the transaction ends nobody else changes it.
    func account(of flow: Flow) throws -> AccountRecord? {
        try lock([flow.accountId])
        guard let account = try account(named: flow.username, in: flow.tenantId), account.id == flow.accountId else { return nil }
        return account
    }

    package func accounts(of tenantId: String, after id: String, limit: Int) throws -> [AccountRecord] {
        try query(
            """
            SELECT
                id, tenant_id, username, email, email_verified, method, password, attributes, claims, disabled, must_change_password,
                valid_after, created_at, updated_at, last_sign_in_at
            FROM account WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3
            """, tenantId, id, limit, row: AccountRecord.init)
    }

    func deleteAccount(_ id: String) throws { try execute("DELETE FROM account WHERE id = $1", id) }

    func isTaken(_ name: String, in tenantId: String) throws -> Bool {
        try queryOne("SELECT 1 FROM account_name WHERE tenant_id = $1 AND kind = 'email' AND name = $2", tenantId, name) { _ in true }
            ?? false
    }

    /// Adds an account with the address it signs in with. Answers false if the address is taken.
    package func insert(_ account: AccountRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO account (
                id, tenant_id, username, email, email_verified, method, password, attributes, claims, disabled, must_change_password,
                valid_after, created_at, updated_at, last_sign_in_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            """, account.id, account.tenantId, account.username, account.email, account.isEmailVerified, account.method.rawValue,
            account.password, JSONValue.object(account.attributes).text, JSONValue.object(account.claims).text, account.isDisabled,
            account.mustChangePassword, account.validAfter, account.createdAt, account.updatedAt, account.lastSignInAt)
        guard let username = account.username else { return true }
        let isFree = try claim(username, for: account)
        if !isFree { try execute("DELETE FROM account WHERE id = $1", account.id) }
        return isFree
    }

    /// Makes an address lead to an account. Answers false if it leads to another one.
    func claim(_ username: String, for account: AccountRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO account_name (tenant_id, kind, name, account_id) VALUES ($1, 'email', $2, $3)
            ON CONFLICT (tenant_id, kind, name) DO NOTHING
            """, account.tenantId, Username.fold(username), account.id) == 1
    }

    /// Makes no address lead to an account any more.
    package func releaseNames(of accountId: String) throws {
        try execute("DELETE FROM account_name WHERE account_id = $1 AND kind = 'email'", accountId)
    }

    /// Lets an account be signed in to with another address, and with the one before no more. Answers false if somebody else has it.
    package func rename(_ account: AccountRecord, to address: String) throws -> Bool {
        let name = Username.fold(address)
        if try !claim(name, for: account), try self.account(named: name, in: account.tenantId)?.id != account.id { return false }
        try execute("DELETE FROM account_name WHERE account_id = $1 AND kind = 'email' AND name <> $2", account.id, name)
        return true
    }

    package func update(_ account: AccountRecord) throws {
        try execute(
            """
            UPDATE account SET
                username = $2, email = $3, email_verified = $4, method = $5, password = $6, attributes = $7, claims = $8, disabled = $9,
                must_change_password = $10, valid_after = $11, updated_at = $12, last_sign_in_at = $13
            WHERE id = $1
            """, account.id, account.username, account.email, account.isEmailVerified, account.method.rawValue, account.password,
            JSONValue.object(account.attributes).text, JSONValue.object(account.claims).text, account.isDisabled,
            account.mustChangePassword, account.validAfter, account.updatedAt, account.lastSignInAt)
    }

    /// Removes the accounts of a tenant, and ends what is under way for them.
    func deletePeople(of tenantId: String) throws {
        try execute("DELETE FROM account WHERE tenant_id = $1", tenantId)
        try endFlows(ofTenant: tenantId)
    }
}

extension AccountRecord {
    init(_ row: Row) {
        self.init(
            id: row.string(0), tenantId: row.string(1), username: row.optionalString(2), email: row.optionalString(3),
            isEmailVerified: row.bool(4), method: Method(rawValue: row.string(5)) ?? .code, password: row.optionalBytes(6),
            attributes: Self.object(row.string(7)), claims: Self.object(row.string(8)), isDisabled: row.bool(9),
            mustChangePassword: row.bool(10), validAfter: row.int(11), createdAt: row.int(12), updatedAt: row.int(13),
            lastSignInAt: row.optionalInt(14))
    }

    private static func object(_ text: String) -> JSONObject { (try? JSONValue(parsing: text))?.object ?? [:] }
}
