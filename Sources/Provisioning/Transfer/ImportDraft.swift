import Accounts
import Contract
import JSON
import Platform
import ServiceContext

/// An account as it is to be, found right in itself. Secrets are not sealed yet.
struct ImportDraft {
    let line: Int64
    /// The record, but for the password.
    let account: AccountRecord
    /// Whether its id was given, or made up.
    let hasOwnId: Bool
    let logins: [Login]
    let factors: [Factor]
    let password: Password

    struct Login {
        /// Where it stands in the account.
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
        /// There is one, and nobody knows it here.
        case unknown
    }

    /// The address it signs in with, as it is compared.
    var address: String? { account.username.map(Username.fold) }
}

/// Seals what is secret, under the ids that accounts and factors will have.
extension ImportDraft {
    /// - Parameter id: of the account that it becomes: its own, or that of the one it replaces.
    func sealed(as id: String, _ surroundings: AccountsContext) -> (account: AccountRecord, factors: [FactorRecord]) {
        var record = AccountRecord(
            id: id, tenantId: account.tenantId, username: account.username, email: account.email,
            isEmailVerified: account.isEmailVerified, method: account.method, attributes: account.attributes, claims: account.claims,
            isDisabled: account.isDisabled, mustChangePassword: account.mustChangePassword, createdAt: account.createdAt,
            updatedAt: account.updatedAt, lastSignInAt: account.lastSignInAt)
        switch password {
        case .none: break
        case .hashed(let hashed): record.password = surroundings.passwords.sealed(hashed, as: id)
        case .unknown: record.password = surroundings.passwords.sealedUnknown(as: id)
        }
        let factors = factors.map { factor in
            let factorId = Base64URL.encode(surroundings.random.bytes(21))
            return FactorRecord(
                id: factorId, accountId: id, kind: factor.kind, displayName: factor.displayName, target: factor.target,
                secret: factor.secret.map { surroundings.vault.seal(.init($0), as: FactorRecord.sealName(factorId)) }, lastStep: nil,
                enrolledAt: factor.enrolledAt, lastUsedAt: factor.lastUsedAt)
        }
        return (record, factors)
    }
}
