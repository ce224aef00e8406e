import Contract
import Storage

/// Verifies the code of a flow. Counts a wrong code for the code itself, the account or address, and the client.
struct CodeCheck {
    let sending: CodeSending
    let tenant: TenantRecord
    /// The lockout subject for which wrong codes are counted.
    let subject: String
    /// The method that ends a lockout, if one exists.
    var unlock: String?
    /// An additional lockout subject for which wrong codes are counted; its lockout is not checked here.
    var alsoOf: String?
    /// The part of the account that the lockout affects, for the error message; `nil` means the whole account.
    var only: String?
    var client: ClientKey?

    /// - Returns: `nil` if the code is correct.
    /// - Throws: `AccountLocked`, `CodeExpired`. These failures are not counted.
    func judge(_ code: String, of flow: inout Flow, at now: Int64, in tx: Transaction) throws -> InvalidCode? {
        var lockout = try tx.lockout(of: subject, at: now)
        try lockout.check(at: now, unlock: unlock, only: only)
        try flow.requireLivingCode(tenant.codes, at: now)
        if sending.matches(code, of: flow, at: now, tenant.codes) {
            flow.code.mac = nil
            try tx.clearLockout(of: subject)
            return nil
        }
        flow.code.tries += 1
        try tx.countFailure(of: client, at: now)
        lockout.fail(nil, tenant.lockout, at: now)
        try tx.setLockout(lockout, of: subject, at: now)
        if let alsoOf {
            var whole = try tx.lockout(of: alsoOf, at: now)
            whole.fail(nil, tenant.lockout, at: now)
            try tx.setLockout(whole, of: alsoOf, at: now)
        }
        let (left, lock) = (tenant.codes.attempts - flow.code.tries, lockout.lock(at: now))
        return InvalidCode(
            attemptsLeft: max(0, left), resendAt: flow.resendAt(tenant.codes), next: left > 0 ? nil : flow.resendMethod,
            lockedUntil: lock?.until, retryAfterSeconds: lock?.seconds)
    }
}
