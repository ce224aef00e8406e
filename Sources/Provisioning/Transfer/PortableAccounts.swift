import Accounts
import Contract
import Platform
import ServiceContext
import Storage

/// Converts stored accounts to the format of an export.
struct PortableAccounts {
    let context: AccountsContext
    /// Whether to include password hashes and other secrets.
    let withSecrets: Bool

    /// Returns up to `limit` accounts of a tenant, ordered by ID.
    func read(_ tenantId: String, after id: String, limit: Int, in tx: Transaction) throws -> [Records] {
        try tx.accounts(of: tenantId, after: id, limit: limit).map {
            Records(
                account: $0, logins: try tx.accountLogins(of: $0.id), factors: try tx.factors(of: $0.id),
                phoneNumber: try tx.phoneNumber(of: $0.id), passkeys: try tx.passkeys(of: $0.id),
                ownerId: $0.isAgent ? try tx.owner(ofAgent: $0.id) : nil)
        }
    }

    /// The stored records of an account.
    struct Records {
        let account: AccountRecord
        let logins: [AccountLogin]
        let factors: [FactorRecord]
        let phoneNumber: String?
        let passkeys: [PasskeyRecord]
        /// The account that owns an agent.
        let ownerId: String?
    }

    /// - Throws: `SealBroken`.
    func portable(_ records: Records) throws -> PortableAccount {
        let account = records.account
        // A passkey that is a second factor is among the passkeys.
        let factors = records.factors.filter { $0.kind != .passkey }
        var portable = PortableAccount(
            accountId: account.id, email: account.email, emailVerified: account.isEmailVerified,
            ownerId: records.ownerId, phoneNumber: records.phoneNumber, method: SignInMethod(rawValue: account.method.rawValue),
            providers: records.logins.isEmpty ? nil : records.logins.map(Self.login),
            factors: factors.isEmpty ? nil : try factors.map(factor),
            passkeys: records.passkeys.isEmpty ? nil : records.passkeys.map(PortablePasskey.init), attributes: account.attributes,
            claims: account.claims,
            disabled: account.isDisabled, mustChangePassword: account.mustChangePassword, createdAt: account.createdAt,
            updatedAt: account.updatedAt, lastSignInAt: account.lastSignInAt)
        if withSecrets, let sealed = account.password, let hashed = try context.passwords.hashed(sealed, as: account.id) {
            portable.passwordHash = Base64.encode(hashed.hash)
            portable.salt = Base64.encode(hashed.salt)
            portable.hash = hashed.how.described
            // Earlier versions imported hashes for accounts with other methods, which `account.import` rejects.
            portable.method = .password
        }
        return portable
    }

    private static func login(_ login: AccountLogin) -> PortableLogin {
        PortableLogin(
            providerId: login.providerId, subject: login.subject, email: login.email, displayName: login.displayName,
            photoUrl: login.photoUrl, linkedAt: login.linkedAt)
    }

    private func factor(_ factor: FactorRecord) throws -> PortableFactor {
        let secret = try factor.secret.flatMap { sealed in
            withSecrets ? try context.vault.open(sealed, as: FactorRecord.sealName(factor.id)).copy() : nil
        }
        return PortableFactor(
            kind: FactorKind(rawValue: factor.kind.rawValue) ?? .totp, displayName: factor.displayName,
            email: factor.kind == .email ? factor.target : nil, phoneNumber: factor.kind == .sms ? factor.target : nil,
            secret: secret.map { Base32.encode($0) }, enrolledAt: factor.enrolledAt, lastUsedAt: factor.lastUsedAt)
    }
}
