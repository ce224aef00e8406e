import Contract
import Storage
import WebAuthn

/// The facts that decide whether the user of an accepted passkey may sign in.
struct PasskeyStanding: Sendable {
    private let account: AccountRecord
    private let lockout: Lockout

    /// Reads the account of a passkey. Returns `nil` if it does not exist.
    init?(of passkey: PasskeyRecord, at now: Int64, in tx: Transaction) throws {
        guard let account = try tx.account(passkey.accountId) else { return nil }
        self.account = account
        lockout = try tx.lockout(of: account.lockoutSubject, at: now)
    }

    /// Returns the account. A lockout closes sign-ins with passkeys in every tenant.
    ///
    /// - Throws: `AccountLocked`.
    func unlocked(at now: Int64) throws -> AccountRecord {
        try lockout.check(at: now)
        return account
    }
}

extension PasskeyRecord {
    /// Returns whether an accepted response counts as two factors.
    ///
    /// A thief of an authenticator without a PIN can set one. Therefore verification counts only if it was available at the registration,
    /// or together with another factor (WebAuthn Level 3 section 7.2 step 24).
    func isTwoFactors(_ assertion: AcceptedAssertion, withAnother hasShownFactor: Bool = false) -> Bool {
        assertion.userVerified && (isUserVerified || hasShownFactor)
    }
}
