import Contract
import Storage

/// Wrong passwords and codes of an account, or of an address without one (native-auth.md 1.11, 6.24).
struct Lockout: Sendable, Equatable {
    var failures: Int64 = 0
    var lockedUntil: Int64 = 0
    /// Fingerprints of the last wrong passwords: trying one of them again does not count.
    var recent: [String] = []

    /// After which time without a failure they are forgotten.
    static let memorySeconds: Int64 = 86_400

    /// - Parameters:
    ///   - unlock: the method that unlocks it, where there is one.
    ///   - only: what alone is locked, for people; nil: all that the account has.
    /// - Throws: `AccountLocked`, whatever was given.
    func check(at now: Int64, unlock: String? = nil, only: String? = nil) throws {
        guard now < lockedUntil else { return }
        throw AccountLocked(lockedUntil: lockedUntil, retryAfterSeconds: lockedUntil - now, next: unlock, only: only)
    }

    /// What wrong codes of an address's resets are counted by, beside the account: a lock of the account does not hinder its reset.
    static func resets(of address: String) -> String { "reset/\(address)" }

    /// Until when it is locked, and for how long; nil if it is not.
    func lock(at now: Int64) -> (until: Int64, seconds: Int64)? { now < lockedUntil ? (lockedUntil, lockedUntil - now) : nil }

    /// How many more failures there can be before it locks.
    func attemptsLeft(_ policy: LockoutPolicy) -> Int64 { max(0, policy.threshold - failures) }

    /// Counts a failure. At the threshold it locks; each one after that locks again, for twice as long.
    ///
    /// - Parameter fingerprint: of a wrong password.
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
    /// What unlocks an account: the reset of its password, where it has one and resets are not locked too. Where nobody is to learn
    /// that it has one, the tenant's method decides.
    ///
    /// - Parameter address: the tenant and what the account signs in by.
    func unlock(_ account: AccountRecord?, of address: String, at now: Int64, in tx: Transaction) throws -> String? {
        if try tx.lockout(of: Lockout.resets(of: address), at: now).lock(at: now) != nil { return nil }
        let canReset = account.map { $0.password != nil && !$0.isDisabled } ?? false
        return (settings.enumerationProtection ? settings.localAccountMethod != .emailCode : canReset) ? "passwordReset.start" : nil
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
    }

    package func clearLockout(of subject: String) throws { try execute("DELETE FROM failure_count WHERE subject = $1", subject) }
}
