import Contract
import Platform
import Storage

/// The outcome of verifying a first factor.
enum FirstFactor: Sendable {
    case signedIn(SignInCompletion.SignedIn)
    /// A second factor must be verified or enrolled. Contains the updated flow.
    case pending(Flow)

    /// Converts the outcome to the step of the flow that contains the sign-in.
    func step(_ flow: inout Flow) -> FlowStep.Outcome {
        guard case .pending(let pending) = self else { return .finished }
        flow = pending
        return .moved
    }
}

extension SignInCompletion {
    /// Signs in, or requires a second factor first. The changes of the first factor are stored in both cases; the time of the last sign-in
    /// is recorded only when the sign-in is complete.
    ///
    /// - Throws: `AccountDisabled`, `ScopeNotOffered`.
    func conclude(
        _ account: AccountRecord, of tenant: TenantRecord, with signIn: PendingSignIn, by attempt: SignInCall, in tx: Transaction
    ) throws -> FirstFactor {
        let (flow, now) = (attempt.flow, attempt.now)
        var signIn = signIn
        let application = flow?.application ?? FlowApplication(name: signIn.application, accepts: signIn.accepts)
        signIn.application = application.name
        let contexts = tenant.known(requestedContexts)
        if !contexts.isEmpty { signIn.contexts = contexts }
        if attempt.gate.hasDisabled(account.id) { return .signedIn(try begin(account, of: tenant, with: signIn, by: attempt, in: tx)) }
        if account.isDisabled { throw AccountDisabled(accountId: account.id) }
        try tx.requireUnlocked(account, tenant, at: now)
        let stage: Flow.Stage
        switch try SecondFactorRule.decide(
            signIn.contexts.isEmpty ? tenant.mfa : .required, signIn.proof, try tx.factors(of: account.id),
            passkeys: try tx.passkeys(of: account.id, usable: tenant))
        {
        case .nothing:
            if signIn.isAfterFailures {
                try context.notify(
                    .signInAfterFailures, AccountChange(account, tenant, language: flow?.language, by: attempt.method, at: now),
                    what: "\(signIn.failures)", in: tx)
            }
            if defersTokens, let flow { return .pending(try deferred(signIn, in: flow, account, tx)) }
            return .signedIn(try begin(account, of: tenant, with: signIn, by: attempt, in: tx))
        case .challenge: stage = .secondFactorRequired
        case .enrollment: stage = .enrollmentRequired
        }
        try tx.update(account)
        var pending =
            flow
            ?? Flow(
                id: attempt.secrets.flowId, tenantId: tenant.id, kind: .secondFactor, stage: stage, username: account.email ?? account.id,
                accountId: account.id, language: nil, request: [], requestedAt: now)
        pending.stage = stage
        pending.code = Flow.Code()
        pending.application = application
        if flow == nil { try tx.insert(pending) }
        try tx.setFactorStep(FactorStep(signIn: signIn.sealed(in: pending.id, context.vault)), of: pending.id)
        return .pending(pending)
    }

    /// The result of a sign-in after its first factor.
    func answer(
        _ outcome: FirstFactor, _ tenant: TenantRecord, _ signIn: PendingSignIn, at now: Int64
    ) throws -> SignInStep {
        switch outcome {
        case .pending(let flow): try answer(pending: flow, tenant)
        case .signedIn(let signedIn):
            try answer(signedIn, tenant, after: signIn, at: now)
        }
    }

    /// The result of a sign-in step in a flow.
    ///
    /// - Parameters:
    ///   - result: The outcome of the step, or `nil` if the request is a repetition.
    ///   - flow: The flow after the step.
    func answer(_ result: (FirstFactor, TenantRecord, PendingSignIn)?, after flow: Flow, at now: Int64) throws -> SignInStep {
        if let (outcome, tenant, signIn) = result, case .signedIn = outcome { return try answer(outcome, tenant, signIn, at: now) }
        let tenant = try context.database.read { try configurations.tenant(flow.tenantId, in: $0) }
        return try answer(pending: flow, tenant)
    }

    /// The result for a sign-in that requires a second factor.
    ///
    /// - Throws: `ContinuationTokenInvalid` if the flow waits for another step.
    func answer(pending flow: Flow, _ tenant: TenantRecord) throws -> SignInStep {
        if let redirection = flow.redirection { return redirection.signIn }
        let token = ContinuationTokens(context).token(of: flow.id, step: flow.step)
        switch flow.stage {
        case .secondFactorRequired:
            let hints = try context.database.read { tx -> [FactorHint] in
                guard let sealed = try tx.factorStep(of: flow.id)?.signIn else { return [] }
                let proof = try PendingSignIn(sealed, of: flow.id, context.vault).proof
                let factors = SecondFactorRule.useful(
                    try tx.factors(of: flow.accountId), after: proof, passkeys: try tx.passkeys(of: flow.accountId, usable: tenant))
                let hasCodes = try tx.recoveryCodesLeft(of: flow.accountId) > 0
                return factors.map(\.hint) + (hasCodes ? [FactorHint(factorId: VerifiedFactor.recovery.factorId, kind: .recovery)] : [])
            }
            return .secondFactorRequired(.init(continuationToken: token, expiresAt: flow.expiresAt, hints: hints))
        case .enrollmentRequired:
            let (account, isByPhone) = try context.database.read { tx in
                let signIn = try tx.factorStep(of: flow.id)?.signIn.map { try PendingSignIn($0, of: flow.id, context.vault) }
                return (try tx.account(flow.accountId), signIn?.proof.provider == SignInProof.phoneProvider)
            }
            let kinds = EnrollmentRule.kinds(
                email: account?.email, isEmailVerified: account?.isEmailVerified ?? false, ownWayIn: account?.ownWayIn,
                hasPasskeys: tenant.settings.passkeys != nil,
                canSend: { context.delivery.carries($0, for: tenant.settings.delivery) }
            ).filter { kind in
                if kind == .sms, isByPhone { return false }
                return FactorRecord.Kind(rawValue: kind.rawValue).map {
                    FactorProfile.refusal(of: $0, tenant.settings, hasStronger: false) == nil
                } ?? true
            }
            return .secondFactorEnrollmentRequired(
                .init(
                    continuationToken: token, expiresAt: flow.expiresAt, factorKinds: kinds,
                    kinds: kinds.map { EnrollableFactor($0, of: account) }))
        case .completed where defersTokens && flow.ending == nil:
            return .tokensDeferred(.init(continuationToken: token, expiresAt: flow.expiresAt))
        default: throw ContinuationTokenInvalid()
        }
    }
}

extension EnrollableFactor {
    /// - Parameter account: The account, whose verified address can become a factor unless its own codes already go there.
    fileprivate init(_ kind: FactorKind, of account: AccountRecord?) {
        guard kind == .email, let account, account.isEmailVerified, account.ownWayIn != "code", let email = account.email else {
            self.init(kind: kind)
            return
        }
        self.init(kind: kind, hint: Recipient.email(email).masked, verified: true)
    }
}
