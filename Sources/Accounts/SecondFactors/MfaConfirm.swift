import Contract
import Crypto
import JSON
import ServiceContext
import Storage

extension MfaService {
    /// Verifies the code of a factor, enrolls it, and starts a new session or completes the sign-in that required it.
    ///
    /// - Throws: `FactorCodeInvalid`, `PasskeyNotAccepted`, `PasskeysOff`, `AccountDisabled`, `AudienceNotOffered`, the refusals of
    ///   `EnrollmentRule`, `TokenRevoked` if the session ended, `TooManyFromClient`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`.
    public func confirm(_ request: MfaConfirm.Params, _ call: any CallContext) throws -> MfaConfirm.Result {
        let submitted = try request.proof.map { try FactorProof($0.code, $0.response, .registration) }
        let flowStep = try flows.step(
            of: Self.enrollments, token: request.continuationToken, by: MfaConfirm.info.name,
            with: [FactorProof.identifying(request.proof?.code, request.proof?.response)] + (request.deferTokens ? [.bool(true)] : []),
            from: request.client
        ).named(request.clientId)
        let (now, name) = (flowStep.now, flowStep.method)
        let attempt = completion.signInCall(of: name, call, at: now)
        var registrar: PasskeyRegistrar?
        if case .passkey = submitted {
            registrar = try PasskeyRegistrar(context, try flowStep.peek().tenant, next: MfaEnroll.info.name, at: now)
        }
        var result: (SignInCompletion.SignedIn, TenantRecord, PendingSignIn)?
        let flow = try flowStep.take(asking: attempt.gate) { tx, flow, tenant in
            try flow.require(.enrollmentCode)
            try tx.lock([flow.accountId])
            guard var account = try tx.account(flow.accountId), let step = try tx.factorStep(of: flow.id), let sealed = step.draft else {
                return .ended(ContinuationTokenExpired())
            }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            let draft = try FactorDraft(sealed, of: flow.id, context.vault)
            var signIn: PendingSignIn
            if let sealed = step.signIn {
                signIn = try PendingSignIn(sealed, of: flow.id, context.vault)
                signIn.audience = request.audience ?? signIn.audience
            } else {
                let sessionId = step.sessionId ?? ""
                guard let session = try tx.session(sessionId) else { return .ended(try tx.loss(ofSession: sessionId)) }
                signIn = PendingSignIn(session.proof, audience: nil)
                signIn.take(try session.grant.continued(audience: request.audience, by: tenant))
            }
            try AccessGrant.check(
                signIn.audience, signIn.scope, of: tenant, by: tenant.application(named: signIn.application))
            try permit(draft, for: EnrollingUser(account: account, proof: signIn.proof, isRecent: true), tenant: tenant, in: tx)
            let (factor, shown): (FactorRecord, VerifiedFactor)
            switch try enroll(
                draft, with: submitted, &flow, .init(account: account, tenant: tenant, registrar: registrar, now: now), in: tx)
            {
            case .failure(let refusal):
                if refusal.ends { return .ended(refusal.error) }
                try tx.countFailure(of: flowStep.client, at: now)
                return .refused(refusal.error)
            case .success(let enrolled): (factor, shown) = enrolled
            }
            if draft.kind == .email, draft.target.map(Username.fold) == account.email.map(Username.fold) { account.isEmailVerified = true }
            account.updatedAt = now
            // End earlier sessions: they started without the second factor that is now required.
            try tx.deleteSessions(of: account.id, by: .enrolledFactor, at: now)
            // Also end pending changes of the address, which such a session may have started.
            try tx.endEmailChanges(of: account.id, except: flow.id)
            try context.notify(
                .factorAdded, AccountChange(account, tenant, language: flow.language, by: name, at: now), what: factor.noticeName, in: tx)
            signIn.proof = signIn.proof.adding(shown)
            if request.deferTokens {
                // No sign-in follows in this transaction, which would store the account and a record.
                try tx.update(account)
                try context.audit.record(
                    AuditEvent(name, call, tenant: tenant.id, subject: account.id, details: [("factorId", factor.id)]), at: now, in: tx)
                return try deferTokens(of: signIn, in: &flow, tx)
            }
            result = (try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx), tenant, signIn)
            return .finished
        }
        guard let (signedIn, tenant, signIn) = result else { return try deferred(flow) }
        return try completion.answer(.signedIn(signedIn), tenant, signIn, at: now)
    }

    /// The refusal of a code or of a response.
    private struct Refusal: Error {
        let error: any ContractError
        /// Whether the flow ends.
        var ends = false
    }

    /// The account that gets a factor.
    private struct Enrollee {
        let account: AccountRecord
        let tenant: TenantRecord
        /// Verifies new passkeys. `nil` for other factors.
        let registrar: PasskeyRegistrar?
        let now: Int64
    }

    /// Verifies what was submitted, and stores the factor.
    private func enroll(
        _ draft: FactorDraft, with submitted: FactorProof?, _ flow: inout Flow, _ enrollee: Enrollee, in tx: Transaction
    ) throws -> Result<(FactorRecord, VerifiedFactor), Refusal> {
        let (account, tenant, now) = (enrollee.account, enrollee.tenant, enrollee.now)
        switch submitted {
        case .passkey(let response):
            guard draft.kind == .passkey, let registrar = enrollee.registrar else {
                throw StepNotPossible(expected: "mfa.confirm with a code")
            }
            return try enroll(response, name: draft.displayName, of: flow, registrar, in: tx)
                .map { (FactorRecord($0), VerifiedFactor($0)) }.mapError { Refusal(error: $0) }
        case .code, nil:
            if draft.kind == .passkey { throw StepNotPossible(expected: "mfa.confirm with a response") }
            var step: Int64?
            if draft.isVerified {
                // The address changed after `mfa.enroll`: the factor would belong to an address that is not proved.
                guard account.hasVerified(draft.target) else { return .failure(Refusal(error: FlowEnded(.accountChanged), ends: true)) }
            } else {
                switch check.judge(try submitted.requiredCode, of: draft, &flow, tenant, at: now) {
                case .failure(let refusal): return .failure(Refusal(error: refusal))
                case .success(let found): step = found
                }
            }
            let factor = record(of: draft, for: account, step: step, at: now)
            try tx.insert(factor)
            return .success((factor, VerifiedFactor(kind: draft.kind.rawValue, factorId: draft.id)))
        }
    }

    private func record(of draft: FactorDraft, for account: AccountRecord, step: Int64?, at now: Int64) -> FactorRecord {
        FactorRecord(
            id: draft.id, accountId: account.id, kind: draft.kind, displayName: draft.displayName, target: draft.target,
            secret: draft.secret.map { context.vault.seal(SecretBytes($0), as: FactorRecord.sealName(draft.id)) }, lastStep: step,
            enrolledAt: now, lastUsedAt: nil)
    }
}

extension FactorProof? {
    /// - Throws: `InvalidParams` if the code is missing.
    fileprivate var requiredCode: String {
        get throws {
            if case .code(let code) = self { return code }
            throw InvalidParams(
                violations: [
                    Violation(pointer: "/code", rule: "required", message: "code is missing. Pass the code of the factor.")
                ])
        }
    }
}
