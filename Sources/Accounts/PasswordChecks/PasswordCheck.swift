import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// Verifies the password of an account and counts wrong passwords.
struct PasswordCheck: Sendable {
    let context: AccountsContext
    private let fingerprintKey: SecretBytes

    init(_ context: AccountsContext) {
        self.context = context
        fingerprintKey = context.vault.subkey("wrong password")
    }

    /// Verifies a password. Takes the same time if the account does not exist.
    func match(_ password: String, _ account: AccountRecord?) throws -> PasswordVerification {
        try context.passwords.match(password, account?.password, as: account?.id ?? "")
    }

    /// - Throws: `PasswordNotSet` if the account has a password whose hash is unknown because it was imported without one.
    func requireKnown(_ account: AccountRecord) throws {
        guard account.password != nil, try !context.passwords.isKnown(account.password, as: account.id) else { return }
        throw PasswordNotSet(next: PasswordResetStart.info.name)
    }

    /// Returns whether a correct password is still the one of `account`, as read in the write transaction.
    func isStillRight(_ match: PasswordVerification, _ account: AccountRecord?) throws -> Bool {
        try match.isRight && context.passwords.isSame(account?.password, as: match.sealed, of: account?.id ?? "")
    }

    /// Replaces an imported hash with a hash of this store after a correct password.
    func upgrade(_ account: inout AccountRecord, _ match: PasswordVerification, in tx: Transaction) throws {
        guard match.isRight, let upgraded = match.upgraded, account.password == match.sealed else { return }
        account.password = upgraded
        try tx.update(account)
    }

    /// An attempt to use a password, with what wrong passwords are counted for.
    struct Attempt {
        let password: String
        /// The subject under which failures are counted.
        let subject: String
        /// The method that ends a lockout, if one exists.
        var unlock: String?
        var client: ClientKey?
    }

    /// Counts the outcome of a verification.
    ///
    /// - Returns: `nil` if the password is correct.
    /// - Throws: `AccountLocked` while the lockout lasts, even if the password is correct.
    func judge(
        _ attempt: Attempt, isRight: Bool, _ policy: LockoutPolicy, at now: Int64, in tx: Transaction
    ) throws -> InvalidPassword? {
        let subject = attempt.subject
        var lockout = try tx.lockout(of: subject, at: now)
        try lockout.check(at: now, unlock: attempt.unlock)
        if isRight {
            try tx.clearLockout(of: subject)
            return nil
        }
        let fingerprint = Hex.encode(HMAC.sha256(key: fingerprintKey, Array("\(subject) \(attempt.password.nfc)".utf8)).prefix(8))
        try tx.countFailure(of: attempt.client, at: now)
        lockout.fail(fingerprint, policy, at: now)
        try tx.setLockout(lockout, of: subject, at: now)
        let lock = lockout.lock(at: now)
        return InvalidPassword(
            reasons: [PasswordFailure(rule: .incorrect, message: "It is not the password of this account.")],
            attemptsLeft: lockout.attemptsLeft(policy), lockedUntil: lock?.until, retryAfterSeconds: lock?.seconds)
    }
}
