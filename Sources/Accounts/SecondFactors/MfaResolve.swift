import Contract
import JSON
import Messages

extension MfaService {
    /// Completes a sign-in with the code of a second factor, or with the response for a passkey.
    ///
    /// - Throws: `FactorCodeInvalid`, `PasskeyNotAccepted`, `PasskeysOff`, `FactorNotFound`, `AccountLocked`, `AccountDisabled`,
    ///   `AudienceNotOffered`, `TooManyFromClient`,
    ///   `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func resolve(_ request: MfaResolve.Params, _ call: any CallContext) throws -> MfaResolve.Result {
        let submitted = try FactorProof(request.proof.code, request.proof.response, .authentication)
        if case .passkey = submitted, request.factorId != nil {
            let message = "factorId belongs to code. The passkey that made the response is the factor. Omit factorId."
            throw InvalidParams(violations: [Violation(pointer: "/factorId", rule: "unknown", message: message)])
        }
        let flowStep = try flows.step(
            of: Self.signIns, token: request.continuationToken, by: MfaResolve.info.name,
            with: [request.factorId.map { .string($0) } ?? .null, FactorProof.identifying(request.proof.code, request.proof.response)]
                + (request.deferTokens ? [.bool(true)] : []),
            from: request.client
        ).named(request.clientId)
        let (now, name) = (flowStep.now, flowStep.method)
        let attempt = completion.signInCall(of: name, call, at: now)
        var result: (SignInCompletion.SignedIn, TenantRecord, PendingSignIn)?
        let flow = try flowStep.take(asking: attempt.gate) { tx, flow, tenant in
            try flow.require(.secondFactorRequired)
            try tx.lock([flow.accountId])
            guard var account = try tx.account(flow.accountId), let step = try tx.factorStep(of: flow.id), let sealed = step.signIn else {
                return .ended(ContinuationTokenExpired())
            }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            var signIn = try PendingSignIn(sealed, of: flow.id, context.vault)
            signIn.audience = request.audience ?? signIn.audience
            try AccessGrant.check(
                signIn.audience, signIn.scope, of: tenant, by: tenant.application(named: signIn.application))
            let factors = try tx.factors(of: account.id)
            let subject = FactorCheck.lockoutSubject(account.id)
            signIn.failures += try tx.lockout(of: subject, at: now).failures
            func notify(_ purpose: MessagePurpose, what: String = "") throws {
                try context.notify(purpose, AccountChange(account, tenant, language: flow.language, by: name, at: now), what: what, in: tx)
            }
            let outcome: FactorCheck.Outcome
            switch submitted {
            case .passkey(let response):
                let challenged = ChallengedSignIn(flow: flow, proof: signIn.proof, tenant: tenant)
                switch try judge(response, of: challenged, by: attempt, in: tx) {
                case .right(let shown): outcome = .right(shown)
                case .refused(let refusal):
                    try tx.countFailure(of: flowStep.client, at: now)
                    return .refused(refusal)
                }
            case .code(let code):
                outcome = try check.judge(
                    .init(
                        code: code, factorId: request.factorId, challengedId: step.factorId, factors: factors, client: flowStep.client,
                        now: now),
                    of: &flow, tenant, in: tx)
            }
            switch outcome {
            case .refused(let refusal):
                if try tx.lockout(of: subject, at: now).lock(at: now) != nil { try notify(.accountLocked) }
                return .refused(refusal)
            case .right(let shown):
                if signIn.awaitsLink, let identity = signIn.identity {
                    let accounts = FederatedAccounts(context: context, tenant: tenant, identity: identity, now: now, gate: attempt.gate)
                    // Since the first factor, the login may have been linked to another account, or the address may have changed.
                    guard let linked = try accounts.link(to: account, name, call, in: tx) else { return .ended(FlowEnded(.accountChanged)) }
                    try tx.keepGrant(of: identity, for: linked, context.vault)
                    account = linked
                }
                signIn.proof = signIn.proof.adding(shown)
                if shown == .recovery { try notify(.recoveryCodeUsed, what: "\(try tx.recoveryCodesLeft(of: account.id))") }
                if signIn.isAfterFailures { try notify(.signInAfterFailures, what: "\(signIn.failures)") }
                if request.deferTokens { return try deferTokens(of: signIn, in: &flow, tx) }
                result = (try completion.begin(account, of: tenant, with: signIn, by: attempt, in: tx), tenant, signIn)
                return .finished
            }
        }
        guard let (signedIn, tenant, signIn) = result else { return try deferred(flow) }
        return try completion.answer(.signedIn(signedIn), tenant, signIn, at: now)
    }
}
