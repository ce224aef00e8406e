import Contract
import Storage

/// The wrong passwords and codes for an account, or for an address without one (Sources/Accounts/README.md, "Lockout and rate limits").
struct Lockout: Sendable, Equatable {
    var failures: Int64 = 0
    var lockedUntil: Int64 = 0
    /// Fingerprints of the last wrong passwords. Repeating one of them is not counted.
    var recent: [String] = []

    /// The time after which failures are forgotten, in seconds.
    static let memorySeconds: Int64 = 86_400

    /// - Parameters:
    ///   - unlock: The method that ends the lockout, if one exists.
    ///   - only: The part of the account that is locked, for the error message; `nil` means the whole account.
    /// - Throws: `AccountLocked` while the lockout lasts.
    func check(at now: Int64, unlock: String? = nil, only: String? = nil) throws {
        guard now < lockedUntil else { return }
        throw AccountLocked(lockedUntil: lockedUntil, retryAfterSeconds: lockedUntil - now, next: unlock, only: only)
    }

    /// The subject under which wrong codes of password resets are counted, in addition to the account. It differs from the account's
    /// subject, so a lockout of the account does not block its password reset.
    static func resets(of address: String) -> String { "reset/\(address)" }

    /// Returns the end and the remaining seconds of the lockout, or `nil` if it is not active.
    func lock(at now: Int64) -> (until: Int64, seconds: Int64)? { now < lockedUntil ? (lockedUntil, lockedUntil - now) : nil }

    /// Returns the number of failures that remain before the lockout.
    func attemptsLeft(_ policy: LockoutPolicy) -> Int64 { max(0, policy.threshold - failures) }

    /// Counts a failure. At the threshold the lockout starts; each further failure doubles its duration.
    ///
    /// - Parameter fingerprint: The fingerprint of a wrong password.
    mutating func fail(_ fingerprint: String?, _ policy: LockoutPolicy, at now: Int64) {
        if let fingerprint {
            if recent.contains(fingerprint) { return }
            recent = Array((recent + [fingerprint]).suffix(3))
        }
        failures += 1
        guard failures >= policy.threshold else { return }
        let doublings = min(failures - policy.threshold, 20)
        lockedUntil = now + min(policy.maximumSeconds, policy.durationSeconds << doublings)
    }
}

extension TenantRecord {
    /// Returns the method that unlocks an account: the password reset, if the account has a password and resets are not locked. With
    /// `enumerationProtection`, the tenant's sign-in method decides, so that the response does not reveal the account.
    ///
    /// - Parameter address: The tenant and the sign-in address of the account.
    func unlock(_ account: AccountRecord?, of address: String, at now: Int64, in tx: Transaction) throws -> String? {
        if try tx.lockout(of: Lockout.resets(of: address), at: now).lock(at: now) != nil { return nil }
        let canReset = account.map { $0.password != nil && !$0.isDisabled } ?? false
        return (enumerationProtection ? localAccountMethod.permitsPasswords : canReset) ? "passwordReset.start" : nil
    }
}

extension Transaction {
    func lockout(of subject: String, at now: Int64) throws -> Lockout {
        try queryOne("SELECT failures, locked_until, recent FROM failure_count WHERE subject = $1 AND expires_at > $2", subject, now) {
            Lockout(failures: $0.int(0), lockedUntil: $0.int(1), recent: $0.string(2).split(separator: " ").map(String.init))
        } ?? Lockout()
    }

    func setLockout(_ lockout: Lockout, of subject: String, at now: Int64) throws {
        let expiresAt = max(now, lockout.lockedUntil) + Lockout.memorySeconds
        try execute(
            """
            INSERT INTO failure_count (subject, failures, locked_until, recent, expires_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (subject) DO UPDATE SET
                failures = excluded.failures, locked_until = excluded.locked_until, recent = excluded.recent, expires_at = excluded.expires_at
            """, subject, lockout.failures, lockout.lockedUntil, lockout.recent.joined(separator: " "), expiresAt)
        if lockout.lockedUntil > now { try insertLockEvent(lockout.lockedUntil, of: subject, at: now) }
    }

    package func clearLockout(of subject: String) throws { try execute("DELETE FROM failure_count WHERE subject = $1", subject) }
}
