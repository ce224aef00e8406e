import Accounts
import Contract
import JSON
import Platform
import ServiceContext

/// A validated account to import. Its secrets are not yet encrypted.
struct ImportDraft {
    let line: Int64
    /// The account record without the password.
    let account: AccountRecord
    /// Whether the import specified the ID. Otherwise it was generated.
    let hasOwnId: Bool
    let logins: [Login]
    let factors: [Factor]
    let password: Password
    var phoneNumber: String? = nil
    var passkeys: [PasskeyRecord] = []
    /// The account that owns an agent.
    var ownerId: String?

    struct Login {
        /// The index of the login in the account's `providers`.
        let place: Int
        let record: AccountLogin
    }

    struct Factor {
        let kind: FactorRecord.Kind
        let displayName: String?
        let target: String?
        let secret: [UInt8]?
        let enrolledAt: Int64
        let lastUsedAt: Int64?
    }

    enum Password {
        case none
        case hashed(HashedPassword)
        /// The account has a password whose hash is unknown.
        case unknown
    }

    /// The sign-in address in its folded form, for comparisons.
    var address: String? { account.username.map(Username.fold) }
}

/// Encrypts the secrets under the IDs that the account and its factors will have.
extension ImportDraft {
    /// - Parameter id: The ID of the resulting account: its own ID, or that of the account it replaces.
    func sealed(as id: String, _ context: AccountsContext) -> (account: AccountRecord, factors: [FactorRecord]) {
        var record = AccountRecord(
            id: id, tenantId: account.tenantId, username: account.username, email: account.email,
            isEmailVerified: account.isEmailVerified, method: account.method, attributes: account.attributes, claims: account.claims,
            isDisabled: account.isDisabled, mustChangePassword: account.mustChangePassword, createdAt: account.createdAt,
            updatedAt: account.updatedAt, lastSignInAt: account.lastSignInAt)
        switch password {
        case .none: break
        case .hashed(let hashed): record.password = context.passwords.sealed(hashed, as: id)
        case .unknown: record.password = context.passwords.sealedUnknown(as: id)
        }
        let factors = factors.map { factor in
            let factorId = Base64URL.encode(context.random.bytes(21))
            return FactorRecord(
                id: factorId, accountId: id, kind: factor.kind, displayName: factor.displayName, target: factor.target,
                secret: factor.secret.map { context.vault.seal(.init($0), as: FactorRecord.sealName(factorId)) }, lastStep: nil,
                enrolledAt: factor.enrolledAt, lastUsedAt: factor.lastUsedAt)
        }
        return (record, factors)
    }
}
