import Contract
import Storage

/// A login at an identity provider that is linked to an account.
package struct AccountLogin: Sendable, Equatable {
    package let providerId: String
    /// The user's subject at the provider.
    package let subject: String
    /// The last values from the provider. The attributes of the account can differ.
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

/// The table of logins. A login is linked to one account of its tenant, and an account has at most one login per provider.
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
    /// Returns the logins of an account, ordered by provider ID.
    package func accountLogins(of accountId: String) throws -> [AccountLogin] {
        try query(
            """
            SELECT provider_id, subject, email, display_name, photo_url, linked_at FROM account_login WHERE account_id = $1
            ORDER BY provider_id
            """, accountId, row: AccountLogin.init)
    }

    /// Returns the ID of the account to which a login is linked, or `nil`.
    package func owner(ofLogin subject: String, at providerId: String, in tenantId: String) throws -> String? {
        try queryOne(
            "SELECT account_id FROM account_login WHERE tenant_id = $1 AND provider_id = $2 AND subject = $3", tenantId, providerId, subject
        ) { $0.string(0) }
    }

    /// Adds a login. Returns `false` if it is already linked to an account, or if the account has another login at the same provider.
    package func insert(_ login: AccountLogin, of account: AccountRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO account_login (tenant_id, provider_id, subject, account_id, email, display_name, photo_url, linked_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """, account.tenantId, login.providerId, login.subject, account.id, login.email, login.displayName, login.photoUrl,
            login.linkedAt) == 1
    }

    /// Stores the current values from a provider. Values that the provider's token omits keep their last value.
    func update(_ login: AccountLogin, of accountId: String) throws {
        try execute(
            """
            UPDATE account_login
            SET email = COALESCE($3, email), display_name = COALESCE($4, display_name), photo_url = COALESCE($5, photo_url)
            WHERE account_id = $1 AND provider_id = $2
            """, accountId, login.providerId, login.email, login.displayName, login.photoUrl)
    }

    /// Deletes the account's login at a provider. Returns `false` if the account has none.
    func deleteAccountLogin(at providerId: String, of accountId: String) throws -> Bool {
        try execute("DELETE FROM account_login WHERE account_id = $1 AND provider_id = $2", accountId, providerId) == 1
    }

    package func deleteAccountLogins(of accountId: String) throws {
        try execute("DELETE FROM account_login WHERE account_id = $1", accountId)
    }
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
    /// The sign-in method of the account itself, `password` or `code`, or `nil` if it has none. The value is derived, never stored.
    var ownWayIn: String? {
        guard email != nil else { return nil }
        return password != nil ? "password" : method == .code ? "code" : nil
    }

    /// The sign-in methods of the account: its own first, then the linked providers.
    func providers(_ logins: [AccountLogin]) -> [LinkedProvider] {
        let own = ownWayIn.map { LinkedProvider(providerId: $0, subject: email ?? "", email: email) }
        return [own].compactMap { $0 } + logins.map(\.answer)
    }

    /// The account as the `account.*` methods return it.
    func answer(
        _ logins: [AccountLogin], _ factors: [FactorRecord] = [], _ passkeys: [PasskeyRecord] = [], phoneNumber: String? = nil,
        ownerId: String? = nil
    ) -> Account {
        Account(
            accountId: id, tenantId: tenantId, ownerId: ownerId, username: username, email: email, emailVerified: isEmailVerified,
            phoneNumber: phoneNumber,
            method: SignInMethod(rawValue: method.rawValue) ?? .code, providers: providers(logins),
            factors: factors.isEmpty ? nil : factors.map(\.answer),
            passkeys: Self.signingIn(passkeys), attributes: EncodedObject(attributes),
            claims: EncodedObject(claims), disabled: isDisabled, mustChangePassword: mustChangePassword, createdAt: createdAt,
            updatedAt: updatedAt, tokensValidSince: validAfter == 0 ? nil : validAfter, lastSignInAt: lastSignInAt)
    }

    /// The passkeys with which the user signs in; those that are second factors are among the factors.
    private static func signingIn(_ passkeys: [PasskeyRecord]) -> [Passkey]? {
        let own = passkeys.filter { $0.usage == .signIn }.map(\.answer)
        return own.isEmpty ? nil : own
    }

    /// The account as the `account.*` methods return it, with its logins and factors read from the store.
    func answer(in tx: Transaction) throws -> Account {
        answer(
            try tx.accountLogins(of: id), try tx.factors(of: id), try tx.passkeys(of: id), phoneNumber: try tx.phoneNumber(of: id),
            ownerId: isAgent ? try tx.owner(ofAgent: id) : nil)
    }
}
