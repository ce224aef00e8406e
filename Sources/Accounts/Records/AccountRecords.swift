import Contract
import JSON
import Storage

/// The stored account of a user in a tenant.
package struct AccountRecord: Sendable {
    /// How the account was created, which determines how the user signs in.
    package enum Method: String, Sendable { case password, code, passkey, federated, anonymous, custom, agent }

    package let id: String
    package let tenantId: String
    /// The address with which the user signs in, as it was entered at sign-up; `nil` for an account without its own address.
    package var username: String?
    package var email: String?
    package var isEmailVerified: Bool
    package var method: Method
    /// The encrypted password; `nil` for an account that signs in with codes or with a provider.
    package var password: [UInt8]?
    package var attributes: JSONObject
    /// The custom claims of the account's tokens.
    package var claims = JSONObject()
    package var isDisabled = false
    package var mustChangePassword = false
    /// Tokens and sessions issued before this time are revoked.
    package var validAfter: Int64 = 0
    package let createdAt: Int64
    package var updatedAt: Int64
    package var lastSignInAt: Int64?

    /// Whether the account has its own sign-in method: a password, one-time codes, or a passkey with codes for its loss.
    var hasOwnWayIn: Bool { method == .password || method == .code || method == .passkey }

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

    /// The key under which codes sent to the account and the steps of its flows are counted: the tenant and the folded sign-in address.
    var address: String { "\(tenantId)/\(Username.fold(username ?? ""))" }

    /// Returns whether a code sent to the account's address permits setting a password. This is the case if the account has a password, or
    /// if it has no sign-in method of its own and the tenant permits passwords. In the second case, the account may have been created by
    /// someone other than the owner of the address.
    func canReset(in tenant: TenantRecord) -> Bool {
        password != nil || (!hasOwnWayIn && tenant.localAccountMethod.permitsPasswords)
    }

    /// Gives the account its own sign-in method after the user verified the address. Deletes all provider logins and sessions, because
    /// another user may have created them.
    mutating func reclaim(_ method: Method, at now: Int64, in tx: Transaction) throws {
        self.method = method
        isEmailVerified = true
        updatedAt = now
        try tx.deleteAccountLogins(of: id)
        try tx.deletePasskeys(of: id)
        _ = try tx.deleteSessions(of: id)
    }

    /// The key under which wrong passwords and codes are counted.
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

    /// Returns the account that signs in with an address, or `nil`.
    package func account(named name: String, in tenantId: String) throws -> AccountRecord? {
        try queryOne(
            """
            SELECT
                a.id, a.tenant_id, a.username, a.email, a.email_verified, a.method, a.password, a.attributes, a.claims, a.disabled,
                a.must_change_password, a.valid_after, a.created_at, a.updated_at, a.last_sign_in_at
            FROM account_name n JOIN account a ON a.id = n.account_id WHERE n.tenant_id = $1 AND n.kind = 'email' AND n.name = $2
            """, tenantId, Username.fold(name), row: AccountRecord.init)
    }

    /// Locks and returns the account of a flow, or `nil` if the flow's address no longer belongs to that account. Other transactions cannot
    /// change the account until this one ends.
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

    /// Deletes an account and its agents.
    func deleteAccount(_ id: String) throws {
        try execute("DELETE FROM account WHERE id IN (SELECT g.account_id FROM agent g WHERE g.owner_id = $1)", id)
        try execute("DELETE FROM account WHERE id = $1", id)
    }

    func isTaken(_ name: String, in tenantId: String) throws -> Bool {
        try queryOne("SELECT 1 FROM account_name WHERE tenant_id = $1 AND kind = 'email' AND name = $2", tenantId, name) { _ in true }
            ?? false
    }

    /// Adds an account with its sign-in address. Returns `false` if the address is already in use.
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

    /// Assigns a sign-in address to an account. Returns `false` if it is already assigned.
    func claim(_ username: String, for account: AccountRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO account_name (tenant_id, kind, name, account_id) VALUES ($1, 'email', $2, $3)
            ON CONFLICT (tenant_id, kind, name) DO NOTHING
            """, account.tenantId, Username.fold(username), account.id) == 1
    }

    /// Removes the sign-in address of an account.
    package func releaseNames(of accountId: String) throws {
        try execute("DELETE FROM account_name WHERE account_id = $1 AND kind = 'email'", accountId)
    }

    /// Replaces the sign-in address of an account. Returns `false` if another account has the address.
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

    /// Records a sign-in to an account that has not changed otherwise.
    func noteSignIn(to accountId: String, at now: Int64) throws {
        try execute("UPDATE account SET last_sign_in_at = $2 WHERE id = $1", accountId, now)
    }

    /// Deletes the accounts of a tenant and ends their pending flows.
    func deletePeople(of tenantId: String) throws {
        try execute("DELETE FROM account WHERE tenant_id = $1", tenantId)
        try endFlows(ofTenant: tenantId)
        try deleteActionCodes(ofTenant: tenantId)
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

    private static func object(_ text: String) -> JSONObject {
        // Most accounts have no claims, and the parser needs memory for an empty object too.
        text == "{}" ? [:] : (try? JSONValue(parsing: text))?.object ?? [:]
    }
}
