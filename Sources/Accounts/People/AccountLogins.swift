import Contract
import Storage

/// A login of a provider that leads to an account (firebase.md 1.2).
package struct AccountLogin: Sendable, Equatable {
    package let providerId: String
    /// Who it is there.
    package let subject: String
    /// What the provider said last; the account's own can be others.
    package var email: String?
    package var displayName: String?
    package var photoUrl: String?
    package let linkedAt: Int64

    package init(
        providerId: String, subject: String, email: String? = nil, displayName: String? = nil, photoUrl: String? = nil, linkedAt: Int64
    ) {
        self.providerId = providerId
        self.subject = subject
        self.email = email
        self.displayName = displayName
        self.photoUrl = photoUrl
        self.linkedAt = linkedAt
    }
}

/// The table of logins. A login leads to one account of its tenant, and an account has one login of a provider.
package enum AccountLoginTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE account_login (
            tenant_id TEXT NOT NULL, provider_id TEXT NOT NULL, subject TEXT NOT NULL,
            account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, email TEXT, display_name TEXT, photo_url TEXT,
            linked_at BIGINT NOT NULL, tokens BYTEA, tokens_lease TEXT, PRIMARY KEY (tenant_id, provider_id, subject))
        """,
        "CREATE UNIQUE INDEX account_login_of_account ON account_login (account_id, provider_id)",
    ]
}

extension Transaction {
    /// The logins of an account, in the order of their providers' names.
    package func accountLogins(of accountId: String) throws -> [AccountLogin] {
        try query(
            """
            SELECT provider_id, subject, email, display_name, photo_url, linked_at FROM account_login WHERE account_id = $1
            ORDER BY provider_id
            """, accountId, row: AccountLogin.init)
    }

    /// The id of the account that a login leads to.
    package func owner(ofLogin subject: String, at providerId: String, in tenantId: String) throws -> String? {
        try queryOne(
            "SELECT account_id FROM account_login WHERE tenant_id = $1 AND provider_id = $2 AND subject = $3", tenantId, providerId, subject
        ) { $0.string(0) }
    }

    /// Adds a login. Answers false if it leads to an account already, or if the account has another one of the provider.
    package func insert(_ login: AccountLogin, of account: AccountRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO account_login (tenant_id, provider_id, subject, account_id, email, display_name, photo_url, linked_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """, account.tenantId, login.providerId, login.subject, account.id, login.email, login.displayName, login.photoUrl,
            login.linkedAt) == 1
    }

    /// Stores what a provider says now. What its token does not contain stays: the value that it said last.
    func update(_ login: AccountLogin, of accountId: String) throws {
        try execute(
            """
            UPDATE account_login
            SET email = COALESCE($3, email), display_name = COALESCE($4, display_name), photo_url = COALESCE($5, photo_url)
            WHERE account_id = $1 AND provider_id = $2
            """, accountId, login.providerId, login.email, login.displayName, login.photoUrl)
    }

    /// Answers false if the account has none of this provider.
    func deleteAccountLogin(at providerId: String, of accountId: String) throws -> Bool {
        try execute("DELETE FROM account_login WHERE account_id = $1 AND provider_id = $2", accountId, providerId) == 1
    }

    package func deleteAccountLogins(of accountId: String) throws { try execute("DELETE FROM account_login WHERE account_id = $1", accountId) }
}

extension AccountLogin {
    fileprivate init(_ row: Row) {
        self.init(
            providerId: row.string(0), subject: row.string(1), email: row.optionalString(2), displayName: row.optionalString(3),
            photoUrl: row.optionalString(4), linkedAt: row.int(5))
    }

    var answer: LinkedProvider {
        LinkedProvider(
            providerId: providerId, subject: subject, email: email, displayName: displayName, photoUrl: photoUrl, linkedAt: linkedAt)
    }
}

extension AccountRecord {
    /// Its own way in, if it has one: the password, or codes that are mailed. It is derived, never stored (firebase.md 1.2).
    var ownWayIn: String? {
        guard email != nil else { return nil }
        return password != nil ? "password" : method == .code ? "code" : nil
    }

    /// The ways into it, its own one first.
    func providers(_ logins: [AccountLogin]) -> [LinkedProvider] {
        let own = ownWayIn.map { LinkedProvider(providerId: $0, subject: email ?? "", email: email) }
        return [own].compactMap { $0 } + logins.map(\.answer)
    }

    /// As `account.*` answers it.
    func answer(_ logins: [AccountLogin], _ factors: [FactorRecord] = []) -> Account {
        Account(
            accountId: id, tenantId: tenantId, username: username, email: email, emailVerified: isEmailVerified,
            method: SignInMethod(rawValue: method.rawValue) ?? .code, providers: providers(logins),
            factors: factors.isEmpty ? nil : factors.map(\.answer), attributes: EncodedObject(attributes),
            claims: EncodedObject(claims), disabled: isDisabled, mustChangePassword: mustChangePassword, createdAt: createdAt,
            updatedAt: updatedAt, lastSignInAt: lastSignInAt)
    }

    /// As it is answered, with what the store knows of its logins and factors.
    func answer(in tx: Transaction) throws -> Account { answer(try tx.accountLogins(of: id), try tx.factors(of: id)) }
}
