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

    /// The options of the sign-in in addition to the proof.
    struct Wish: Sendable {
        /// The ID token of the required account, for a reauthentication.
        var own: VerifiedTenantToken?
        var audience: String?
        var scope: String?
        var application: ApplicationName?
    }

    /// The response of a browser.
    struct Request: Sendable {
        let token: String
        let response: PasskeyResponse
        var wish = Wish()
        var client: ClientKey?

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

    /// A passkey whose response was accepted.
    struct Proven {
        let passkey: PasskeyRecord
        /// Whether the authenticator verified the user.
        let isVerified: Bool
        /// The ID of the ceremony of the response.
        let ceremonyId: String
        let tenant: TenantRecord
        /// The signed-in user, for a reauthentication.
        var own: AuthenticatedAccount?
        /// The time of the response, or `nil` for the current time.
        var authenticatedAt: Int64?
    }

    /// - Throws: `PasskeysOff`, `PasskeyNotAccepted`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `FlowUsed`, `FlowFinished`,
    ///   `AccountDisabled`, `AccountLocked`, `UserMismatch`, `TokenRevoked`.
    func signIn(_ request: Request, in tenantId: String, _ method: String, _ call: any CallContext) throws -> SignInStep {
        let attempt = completion.signInCall(of: method, call, at: context.clock.now)
        let ((factor, signIn), tenant) = try accept(request, in: tenantId, by: attempt) { proven, tx in
            try begin(proven, request.wish, by: attempt, in: tx)
        }
        return try completion.answer(factor, tenant, signIn, at: attempt.now)
    }

    /// Verifies a response, and runs `conclude` in the transaction that spends its challenge.
    ///
    /// - Parameter conclude: Returns `nil` if the account of the passkey does not exist.
    /// - Throws: The errors of `signIn`.
    func accept<Outcome>(
        _ request: Request, in tenantId: String, by attempt: SignInCompletion.SignInCall,
        conclude: (Proven, Transaction) throws -> Outcome?
    ) throws -> (Outcome, TenantRecord) {
        let now = attempt.now
        let ceremonies = PasskeyCeremonies(context: context, configurations: configurations)
        let (ceremony, tenant, early) = try context.database.read { tx in
            let (ceremony, tenant) = try ceremonies.find(request.token, .authentication, at: now, in: tx)
            guard ceremony.tenantId == tenantId else { throw ContinuationTokenInvalid() }
            return (ceremony, tenant, try Judgement(request.response, ceremony, tenant, in: tx))
        }
        // The signature is verified outside of the transaction, so that several are verified at the same time. A used challenge is not
        // worth the work.
        let verified = ceremony.stage == .open ? early.verified : .failure(Judgement.wrongSignature)
        let outcome: Result<Outcome, PasskeyNotAccepted>
        do {
            outcome = try attempt.gate.write { tx in
                do { try tx.finish(ceremony, at: now) } catch let used as FlowUsed {
                    if try tx.ceremony(ceremony.id)?.stage == .finished { throw FlowFinished() }
                    throw used
                }
                let own = try request.wish.own.map { try AuthenticatedAccount($0, in: tx) }
                let judgement = try Judgement(request.response, ceremony, tenant, in: tx)
                // The transaction that stores the counter compares it again.
                let outcome = judgement.isVerified(as: early) ? verified : judgement.verified
                let concluded: Result<Outcome, PasskeyRefusal> =
                    switch outcome {
                    case .success(let assertion):
                        switch try use(judgement, assertion, own, at: now, in: tx) {
                        case .success(let proven): try conclude(proven, tx).map { .success($0) } ?? .failure(Judgement.wrongSignature)
                        case .failure(let refusal): .failure(refusal)
                        }
                    case .failure(let refusal): .failure(refusal)
                    }
                switch concluded {
                case .success(let outcome): return .success(outcome)
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
        return (try outcome.get(), tenant)
    }

    /// Records the use of the passkey.
    private func use(
        _ judgement: Judgement, _ assertion: AcceptedAssertion, _ own: AuthenticatedAccount?, at now: Int64, in tx: Transaction
    ) throws -> Result<Proven, PasskeyRefusal> {
        guard let passkey = judgement.passkey else { return .failure(Judgement.wrongSignature) }
        let hasShownFactor = own.map { $0.account.id == passkey.accountId && $0.session.secondFactor != nil } ?? false
        let isVerified = passkey.isTwoFactors(assertion, withAnother: hasShownFactor)
        guard
            try tx.markUsed(passkey, assertion, isUserVerified: passkey.isUserVerified || isVerified, at: now)
        else { return .failure(PasskeyRefusal(.counterRegressed, "The signature counter does not grow.")) }
        return .success(
            Proven(passkey: passkey, isVerified: isVerified, ceremonyId: judgement.ceremony.id, tenant: judgement.tenant, own: own))
    }

    /// Signs in to the account of a passkey.
    ///
    /// - Returns: `nil` if the account does not exist.
    /// - Throws: `AccountLocked`, `UserMismatch`, `AccountDisabled`, and the errors of the hooks.
    func begin(
        _ proven: Proven, _ wish: Wish, by attempt: SignInCompletion.SignInCall, in tx: Transaction
    ) throws -> (FirstFactor, PendingSignIn)? {
        try tx.lock([proven.passkey.accountId])
        guard let standing = try PasskeyStanding(of: proven.passkey, at: attempt.now, in: tx) else { return nil }
        let account = try standing.unlocked(at: attempt.now)
        if let own = proven.own, own.account.id != account.id { throw UserMismatch() }
        var proof = SignInProof.passkey(proven.passkey, isVerified: proven.isVerified)
        proof.claims = proven.own?.session.claims ?? [:]
        proof.authenticatedAt = proven.authenticatedAt
        var signIn = PendingSignIn(proof, audience: wish.audience, scope: wish.scope)
        signIn.application = wish.application
        signIn.isAccountStored = true
        if let own = proven.own { signIn.take(try own.session.grant.continued(audience: wish.audience, by: proven.tenant)) }
        return (try completion.conclude(account, of: proven.tenant, with: signIn, by: attempt, in: tx), signIn)
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
