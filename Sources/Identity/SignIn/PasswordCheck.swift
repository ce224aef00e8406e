import Contract
import Crypto
import Platform
import Storage

/// Whether a password is an account's own, and what a wrong one counts for (native-auth.md 1.11).
struct PasswordCheck: Sendable {
    let surroundings: Surroundings
    private let fingerprintKey: SecretBytes

    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        fingerprintKey = surroundings.vault.subkey("wrong password")
    }

    /// Takes the time of a hash whether there is an account or not.
    func matches(_ password: String, _ account: AccountRecord?) throws -> Bool {
        try surroundings.passwords.matches(password, account?.password, as: account?.id ?? "")
    }

    /// Counts the outcome.
    ///
    /// - Parameter subject: what failures are counted by.
    /// - Returns: nil if the password is right.
    /// - Throws: `AccountLocked`, whatever was given.
    func judge(
        _ password: String, isRight: Bool, subject: String, client: ClientKey? = nil, _ tenant: TenantRecord, at now: Int64,
        in tx: Transaction
    ) throws -> InvalidPassword? {
        var lockout = try tx.lockout(of: subject, at: now)
        try lockout.check(at: now)
        if isRight {
            try tx.clearLockout(of: subject)
            return nil
        }
        let fingerprint = Hex.encode(HMAC.sha256(key: fingerprintKey, Array("\(subject) \(password)".utf8)).prefix(8))
        try tx.countFailure(of: client, at: now)
        lockout.fail(fingerprint, tenant.lockout, at: now)
        try tx.setLockout(lockout, of: subject, at: now)
        return InvalidPassword(
            reasons: [PasswordFailure(rule: .incorrect, message: "It is not the password of this account.")],
            attemptsLeft: lockout.attemptsLeft(tenant.lockout))
    }
}
