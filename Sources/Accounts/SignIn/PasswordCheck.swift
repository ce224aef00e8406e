import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// Whether a password is an account's own, and what a wrong one counts for (native-auth.md 1.11).
struct PasswordCheck: Sendable {
    let surroundings: AccountsContext
    private let fingerprintKey: SecretBytes

    init(_ surroundings: AccountsContext) {
        self.surroundings = surroundings
        fingerprintKey = surroundings.vault.subkey("wrong password")
    }

    /// Takes the time of a hash whether there is an account or not.
    func match(_ password: String, _ account: AccountRecord?) throws -> PasswordMatch {
        try surroundings.passwords.match(password, account?.password, as: account?.id ?? "")
    }

    /// - Throws: `PasswordNotSet` where an account's own way in is a password of which nothing is known: it came from elsewhere without one.
    func requireKnown(_ account: AccountRecord) throws {
        guard account.password != nil, try !surroundings.passwords.isKnown(account.password, as: account.id) else { return }
        throw PasswordNotSet(next: PasswordResetStart.info.name)
    }

    /// Whether a right password is still the one of `account`, read anew in the transaction that writes.
    func isStillRight(_ match: PasswordMatch, _ account: AccountRecord?) throws -> Bool {
        try match.isRight && surroundings.passwords.isSame(account?.password, as: match.sealed, of: account?.id ?? "")
    }

    /// Keeps a right password as one of this store where it was hashed elsewhere.
    func upgrade(_ account: inout AccountRecord, _ match: PasswordMatch, in tx: Transaction) throws {
        guard match.isRight, let upgraded = match.upgraded, account.password == match.sealed else { return }
        account.password = upgraded
        try tx.update(account)
    }

    /// Counts the outcome.
    ///
    /// - Parameters:
    ///   - subject: what failures are counted by.
    ///   - unlock: the method that ends a lock, where there is one.
    /// - Returns: nil if the password is right.
    /// - Throws: `AccountLocked`, whatever was given.
    func judge(
        _ password: String, isRight: Bool, subject: String, unlock: String? = nil, client: ClientKey? = nil, _ tenant: TenantRecord,
        at now: Int64, in tx: Transaction
    ) throws -> InvalidPassword? {
        var lockout = try tx.lockout(of: subject, at: now)
        try lockout.check(at: now, unlock: unlock)
        if isRight {
            try tx.clearLockout(of: subject)
            return nil
        }
        let fingerprint = Hex.encode(HMAC.sha256(key: fingerprintKey, Array("\(subject) \(password)".utf8)).prefix(8))
        try tx.countFailure(of: client, at: now)
        lockout.fail(fingerprint, tenant.lockout, at: now)
        try tx.setLockout(lockout, of: subject, at: now)
        let lock = lockout.lock(at: now)
        return InvalidPassword(
            reasons: [PasswordFailure(rule: .incorrect, message: "It is not the password of this account.")],
            attemptsLeft: lockout.attemptsLeft(tenant.lockout), lockedUntil: lock?.until, retryAfterSeconds: lock?.seconds)
    }
}
