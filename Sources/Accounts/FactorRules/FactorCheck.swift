import Contract
import Crypto
import ServiceContext
import Storage

/// Verifies second-factor codes and counts wrong ones, both for the sent code and for the account. The account's counter is separate from
/// that of passwords, so a correct password does not reset it.
struct FactorCheck: Sendable {
    let context: AccountsContext
    let sending: CodeSending

    static func lockoutSubject(_ accountId: String) -> String { "factor/\(accountId)" }

    enum Outcome {
        case right(VerifiedFactor)
        case refused(FactorCodeInvalid)
    }

    /// A code that was submitted for a sign-in.
    struct Submission {
        let code: String
        /// The factor that the caller named, or `nil` for the challenged factor.
        let factorId: String?
        let challengedId: String?
        /// The factors of the account.
        let factors: [FactorRecord]
        let client: ClientKey?
        /// The time of the request.
        let now: Int64
    }

    /// Verifies a code for a sign-in.
    ///
    /// - Throws: `AccountLocked`, `FactorNotFound`; `StepNotPossible` for a factor whose code was not yet sent.
    func judge(
        _ submission: Submission, of flow: inout Flow, _ tenant: TenantRecord, in tx: Transaction
    ) throws -> Outcome {
        let now = submission.now
        let subject = Self.lockoutSubject(flow.accountId)
        var lockout = try tx.lockout(of: subject, at: now)
        try lockout.check(at: now)
        guard let id = submission.factorId ?? submission.challengedId else {
            throw StepNotPossible(expected: "mfa.challenge, or mfa.resolve with a factorId")
        }
        let (shown, check) =
            id == VerifiedFactor.recovery.factorId
            ? (.recovery, try spend(recoveryCode: submission.code, of: flow.accountId, in: tx))
            : try look(submission, for: id, of: flow, tenant, in: tx)
        guard let check else {
            flow.code.mac = nil
            try tx.clearLockout(of: subject)
            return .right(shown)
        }
        try tx.countFailure(of: submission.client, at: now)
        let wasSent = submission.factors.contains { $0.id == id && $0.kind != .totp }
        if wasSent { flow.code.tries += 1 }
        lockout.fail(nil, tenant.lockout, at: now)
        try tx.setLockout(lockout, of: subject, at: now)
        return .refused(refusal(check, flow, sent: wasSent, tenant, left: lockout.attemptsLeft(tenant.lockout)))
    }

    /// - Returns: The verified factor and the reason the code is rejected, or `nil` if it is correct.
    private func look(
        _ submission: Submission, for id: String, of flow: Flow, _ tenant: TenantRecord, in tx: Transaction
    ) throws -> (VerifiedFactor, String?) {
        let (code, now) = (submission.code, submission.now)
        guard let factor = submission.factors.first(where: { $0.id == id }) else { throw FactorNotFound(factorId: id) }
        let shown = VerifiedFactor(kind: factor.kind.rawValue, factorId: factor.id)
        if factor.kind == .passkey { throw StepNotPossible(expected: "mfa.challenge, then mfa.resolve with a response") }
        guard factor.kind == .totp else {
            guard id == submission.challengedId else { throw StepNotPossible(expected: "mfa.challenge") }
            let isRight = sending.matches(code, of: flow, at: now, tenant.codes)
            if isRight { try tx.markUsed(factor, step: nil, at: now) }
            return (shown, isRight ? nil : now < flow.code.expiresAt ? "wrong" : "expired")
        }
        let secret = try context.vault.open(factor.secret ?? [], as: FactorRecord.sealName(factor.id))
        switch TOTP(secret).judge(code, at: now, drift: tenant.settings.totpAdjacentIntervals, after: factor.lastStep) {
        case .right(let step):
            try tx.markUsed(factor, step: step, at: now)
            return (shown, nil)
        case .used: return (shown, "used")
        case .wrong: return (shown, "wrong")
        }
    }

    /// - Returns: The reason a recovery code is rejected, or `nil` if it is correct. It is then used.
    private func spend(recoveryCode code: String, of accountId: String, in tx: Transaction) throws -> String? {
        try tx.spendRecoveryCode(RecoveryCodes(vault: context.vault).mac(code, of: accountId), of: accountId) ? nil : "wrong"
    }

    /// Verifies the code with which a factor is enrolled. Wrong codes count only for this enrollment.
    ///
    /// - Returns: The time step of a TOTP code, or the reason the code is rejected.
    func judge(
        _ code: String, of draft: FactorDraft, _ flow: inout Flow, _ tenant: TenantRecord, at now: Int64
    ) -> Result<Int64?, FactorCodeInvalid> {
        var check = "wrong"
        if let secret = draft.secret {
            let judgement = TOTP(SecretBytes(secret)).judge(code, at: now, drift: tenant.settings.totpAdjacentIntervals, after: nil)
            if flow.code.tries >= tenant.codes.attempts {
                check = "expired"
            } else if case .right(let step) = judgement {
                return .success(step)
            }
        } else if sending.matches(code, of: flow, at: now, tenant.codes) {
            flow.code.mac = nil
            return .success(nil)
        } else if now >= flow.code.expiresAt {
            check = "expired"
        }
        flow.code.tries += 1
        return .failure(refusal(check, flow, sent: draft.secret == nil, tenant, left: nil))
    }

    /// - Parameter left: The number of remaining attempts of the account; `nil` during an enrollment, where only the attempts of the code
    ///   count.
    private func refusal(_ check: String, _ flow: Flow, sent: Bool, _ tenant: TenantRecord, left: Int64?) -> FactorCodeInvalid {
        let again = left == nil ? MfaEnroll.info.name : MfaChallenge.info.name
        let reason =
            switch check {
            case "used": "it was already used; wait for the next code of the app"
            case "expired": "it has expired or was invalidated by wrong attempts; get a new code with \(again)"
            default: sent ? "it is not the latest code that was sent" : "it is not the current code of the app"
            }
        let ofCode = check == "expired" ? 0 : max(0, tenant.codes.attempts - flow.code.tries)
        let attemptsLeft = left.map { sent ? min($0, ofCode) : $0 } ?? ofCode
        return FactorCodeInvalid(
            check: check, reason: reason, attemptsLeft: attemptsLeft,
            resendAt: sent ? flow.code.sentAt + tenant.codes.resendAfterSeconds : nil)
    }
}
