import Contract
import ServiceContext
import Storage
import WebAuthn

/// Signs in or reauthenticates with the response of a browser for a passkey (WebAuthn Level 3 section 7.2).
struct PasskeySignIn: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    let completion: SignInCompletion

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        completion = SignInCompletion(context, configurations)
    }

    /// What the caller wants beyond the proof.
    struct Request: Sendable {
        let token: String
        let response: PasskeyResponse
        /// The ID token of the required account, for a reauthentication.
        var own: VerifiedTenantToken?
        var audience: String?
        var scope: String?
        var client: ClientKey?
        var application: ApplicationName?

        /// - Returns: `nil` if the credential is not the response for a passkey.
        /// - Throws: `InvalidParams`.
        init?(_ credential: Credential) throws {
            guard let response = credential.response else { return nil }
            try CredentialParts.check(credential)
            guard case .continuationToken(let token) = credential.kind else { return nil }
            self.token = token
            self.response = try PasskeyResponse(response, .authentication, at: "/credential/response")
        }
    }

    /// - Throws: `PasskeysOff`, `PasskeyNotAccepted`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `FlowUsed`, `FlowFinished`,
    ///   `AccountDisabled`, `AccountLocked`, `UserMismatch`, `TokenRevoked`.
    func signIn(_ request: Request, in tenantId: String, _ method: String, _ call: any CallContext) throws -> SignInStep {
        let now = context.clock.now
        let ceremonies = PasskeyCeremonies(context: context, configurations: configurations)
        let attempt = completion.signInCall(of: method, call, at: now)
        let (ceremony, tenant, early) = try context.database.read { tx in
            let (ceremony, tenant) = try ceremonies.find(request.token, .authentication, at: now, in: tx)
            guard ceremony.tenantId == tenantId else { throw ContinuationTokenInvalid() }
            return (ceremony, tenant, try Judgement(request.response, ceremony, tenant, in: tx))
        }
        // The signature is verified outside of the transaction, so that several are verified at the same time. A used challenge is not
        // worth the work.
        let verified = ceremony.stage == .open ? early.verified : .failure(Judgement.wrongSignature)
        let outcome: Result<(FirstFactor, PendingSignIn), PasskeyNotAccepted>
        do {
            outcome = try attempt.gate.write { tx in
                if try tx.ceremony(ceremony.id)?.stage == .finished { throw FlowFinished() }
                try tx.finish(ceremony, at: now)
                let own = try request.own.map { try AuthenticatedAccount($0, in: tx) }
                let judgement = try Judgement(request.response, ceremony, tenant, in: tx)
                // The transaction that stores the counter compares it again.
                let outcome = judgement.isVerified(as: early) ? verified : judgement.verified
                let concluded: Result<(FirstFactor, PendingSignIn), PasskeyRefusal> =
                    switch outcome {
                    case .success(let assertion): try conclude(judgement, assertion, request, of: own, by: attempt, in: tx)
                    case .failure(let refusal): .failure(refusal)
                    }
                switch concluded {
                case .success(let signedIn): return .success(signedIn)
                case .failure(let refusal):
                    try tx.refuse(ceremony, from: .finished)
                    try tx.countFailure(of: request.client, at: now)
                    try audit(refusal, of: judgement.passkey, tenant, by: attempt, in: tx)
                    return .failure(judgement.answer(refusal))
                }
            }
        } catch  where error is AccountDisabled || error is RefusedByHook || error is AccountLocked || error is UserMismatch {
            try context.database.write { try $0.refuse(ceremony) }
            throw error
        }
        let (factor, signIn) = try outcome.get()
        return try completion.answer(factor, tenant, signIn, at: now)
    }

    /// Records the use of the passkey, and signs in.
    private func conclude(
        _ judgement: Judgement, _ assertion: AcceptedAssertion, _ request: Request, of own: AuthenticatedAccount?,
        by attempt: SignInCompletion.SignInCall, in tx: Transaction
    ) throws -> Result<(FirstFactor, PendingSignIn), PasskeyRefusal> {
        let (tenant, now) = (judgement.tenant, attempt.now)
        guard let passkey = judgement.passkey else { return .failure(Judgement.wrongSignature) }
        // Whoever holds an authenticator without a PIN can give it one. So verification counts only if it was there at the registration, or
        // together with another factor (WebAuthn Level 3 section 7.2 step 24).
        let isVerified = assertion.userVerified && (passkey.isUserVerified || own?.session.secondFactor != nil)
        guard
            try tx.markUsed(passkey, assertion, isUserVerified: passkey.isUserVerified || isVerified, at: now)
        else { return .failure(PasskeyRefusal(.counterRegressed, "The signature counter does not grow.")) }
        try tx.lock([passkey.accountId])
        guard let account = try tx.account(passkey.accountId) else { return .failure(Judgement.wrongSignature) }
        try tx.lockout(of: account.lockoutSubject, at: now).check(at: now)
        if let own, own.account.id != account.id { throw UserMismatch() }
        var proof = SignInProof.passkey(passkey, isVerified: isVerified)
        proof.claims = own?.session.claims ?? [:]
        var signIn = PendingSignIn(proof, audience: request.audience, scope: request.scope)
        signIn.application = request.application
        if let own { signIn.take(try own.session.grant.continued(audience: request.audience, by: tenant)) }
        return .success((try completion.conclude(account, of: tenant, with: signIn, by: attempt, in: tx), signIn))
    }

    /// Records a counter that does not grow: the passkey may have been cloned.
    private func audit(
        _ refusal: PasskeyRefusal, of passkey: PasskeyRecord?, _ tenant: TenantRecord, by attempt: SignInCompletion.SignInCall,
        in tx: Transaction
    ) throws {
        guard refusal.reason == .counterRegressed, let passkey else { return }
        try context.audit.record(
            AuditEvent(
                attempt.method, attempt.call, tenant: tenant.id, subject: passkey.accountId,
                details: [("credentialId", passkey.id), ("refused", refusal.reason.rawValue)]), at: attempt.now, in: tx)
    }
}
