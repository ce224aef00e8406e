import Contract
import ServiceContext
import Storage
import WebAuthn

/// Passkeys as second factors. The ceremony of a flow has the ID of the flow: the token of the flow stays valid after a refusal, and only
/// the challenge is spent.
extension MfaService {
    /// Starts the registration of a passkey that becomes a second factor.
    func start(_ flow: Flow, _ source: EnrollmentSource, _ draws: PasskeyDraws, at now: Int64, in tx: Transaction) throws {
        let settings = try source.tenant.passkeySettings()
        var ceremony = StoredCeremony(
            id: flow.id, tenantId: source.tenant.id, kind: .enrollment, accountId: source.account.id,
            challenge: try draws.challenge(context, in: tx), userHandle: try draws.userHandle(of: source.account.id, in: tx),
            expiresAt: min(now + StoredCeremony.lifetimeSeconds, flow.expiresAt))
        ceremony.requiresUserVerification = settings.userVerification == .required
        ceremony.algorithms = settings.offeredAlgorithms
        try tx.replace(with: ceremony)
    }

    /// The result of `mfa.enroll` for a passkey.
    func answer(_ ceremony: StoredCeremony, _ flow: Flow, _ source: EnrollmentSource) throws -> EnrollmentStep {
        let settings = try source.tenant.passkeySettings()
        let passkeys = try context.database.read { try $0.passkeys(of: source.account.id) }
        let options = PasskeyOptions.creation(ceremony, for: source.account, in: source.tenant, settings, excluding: passkeys)
        return .passkey(
            .init(continuationToken: flows.token(of: flow), options: EncodedObject(options), expiresAt: ceremony.expiresAt))
    }

    /// The result of `mfa.challenge` for a passkey: every passkey of the account may answer, except the one with which the sign-in began.
    ///
    /// - Throws: `FactorNotFound` if the sign-in began with this passkey.
    func challenge(_ factor: FactorRecord, _ step: FlowStep, _ tenant: TenantRecord) throws -> SignInStep {
        let (now, draws) = (step.now, PasskeyDraws(context))
        let settings = try tenant.passkeySettings()
        let flow = try step.take { tx, flow, _ in
            try flow.require(.secondFactorRequired)
            let allowed = try passkeys(of: flow, tenant, in: tx)
            guard allowed.contains(where: { $0.credentialId == factor.credentialId }) else { throw FactorNotFound(factorId: factor.id) }
            flow.code = Flow.Code()
            try tx.setChallenged(factor.id, in: flow.id)
            var ceremony = StoredCeremony(
                id: flow.id, tenantId: tenant.id, kind: .challenge, accountId: flow.accountId,
                challenge: try draws.challenge(context, in: tx),
                expiresAt: min(now + StoredCeremony.lifetimeSeconds, now + Flow.idleSeconds, flow.endsAt))
            ceremony.requiresUserVerification = settings.userVerification == .required
            ceremony.allowed = allowed.map(\.id)
            try tx.replace(with: ceremony)
            return .moved
        }
        return try context.database.read { tx in
            guard let ceremony = try tx.ceremony(flow.id), ceremony.kind == .challenge else { throw ContinuationTokenInvalid() }
            let known = try passkeys(of: flow, tenant, in: tx).map(PasskeyOptions.Descriptor.init)
            let allowed = ceremony.allowed.compactMap { id in known.first { $0.id == id } }
            return .passkeyRequired(
                .init(
                    continuationToken: flows.token(of: flow),
                    options: EncodedObject(PasskeyOptions.request(ceremony, settings, allowed: allowed)), expiresAt: ceremony.expiresAt))
        }
    }

    /// Returns the passkeys that can be the second factor of a sign-in, most recently used first.
    private func passkeys(of flow: Flow, _ tenant: TenantRecord, in tx: Transaction) throws -> [PasskeyRecord] {
        guard let sealed = try tx.factorStep(of: flow.id)?.signIn else { throw ContinuationTokenExpired() }
        let proof = try PendingSignIn(sealed, of: flow.id, context.vault).proof
        return try tx.passkeys(of: flow.accountId, usable: tenant).filter { $0.id != proof.passkeyId }
            .sorted { ($0.lastUsedAt ?? $0.createdAt) > ($1.lastUsedAt ?? $1.createdAt) }
    }

    /// A sign-in that waits for its second factor.
    struct ChallengedSignIn {
        let flow: Flow
        /// The proof of the first factor.
        let proof: SignInProof
        let tenant: TenantRecord
    }

    /// The outcome of a response for a second factor.
    enum PasskeyOutcome {
        case right(VerifiedFactor)
        case refused(PasskeyNotAccepted)
    }

    /// Verifies the response of a browser to the options of `mfa.challenge`, and records the use of the passkey.
    ///
    /// - Throws: `StepNotPossible` if the challenge is spent, expired or missing; `AccountLocked`, `PasskeysOff`.
    func judge(
        _ response: PasskeyResponse, of signIn: ChallengedSignIn, by attempt: SignInCompletion.SignInCall, in tx: Transaction
    ) throws -> PasskeyOutcome {
        let (flow, tenant, now) = (signIn.flow, signIn.tenant, attempt.now)
        let subject = FactorCheck.lockoutSubject(flow.accountId)
        try tx.lockout(of: subject, at: now).check(at: now)
        let ceremony = try openCeremony(.challenge, of: flow, next: MfaChallenge.info.name, at: now, in: tx)
        try tx.finish(ceremony, at: now)
        let judgement = try Judgement(response, ceremony, tenant, in: tx)
        var refusal: PasskeyRefusal
        switch judgement.verified {
        case .success(let assertion):
            guard let passkey = judgement.passkey else {
                refusal = Judgement.wrongSignature
                break
            }
            // After a password, verification of the user makes the passkey two factors (WebAuthn Level 3 section 7.2 step 24).
            let isVerified = assertion.userVerified && signIn.proof.provider == SignInProof.password.provider
            guard try tx.markUsed(passkey, assertion, isUserVerified: passkey.isUserVerified || isVerified, at: now) else {
                refusal = PasskeyRefusal(.counterRegressed, "The signature counter does not grow.")
                break
            }
            try tx.clearLockout(of: subject)
            return .right(VerifiedFactor(passkey))
        case .failure(let found): refusal = found
        }
        try tx.refuse(ceremony, from: .finished)
        if refusal.reason == .counterRegressed {
            try context.audit.record(
                AuditEvent(
                    attempt.method, attempt.call, tenant: tenant.id, subject: flow.accountId,
                    details: [("credentialId", response.id), ("refused", refusal.reason.rawValue)]), at: now, in: tx)
        }
        return .refused(judgement.answer(refusal))
    }

    /// Verifies the response of a browser to the options of `mfa.enroll`, and stores the passkey.
    ///
    /// - Throws: `StepNotPossible` if the challenge is spent, expired or missing.
    func enroll(
        _ response: PasskeyResponse, name: String?, of flow: Flow, _ registrar: PasskeyRegistrar, in tx: Transaction
    ) throws -> Result<PasskeyRecord, PasskeyNotAccepted> {
        let now = registrar.now
        let ceremony = try openCeremony(.enrollment, of: flow, next: MfaEnroll.info.name, at: now, in: tx)
        try tx.finish(ceremony, at: now)
        let others = try tx.passkeys(of: flow.accountId)
        do {
            let passkey = try registrar.passkey(response, name: name, ceremony, of: flow.accountId, among: others)
            guard try tx.insert(passkey, attestationObject: response.attestationObject) else {
                throw registrar.alreadyRegistered(response)
            }
            return .success(passkey)
        } catch let refusal as PasskeyNotAccepted {
            try tx.refuse(ceremony, from: .finished)
            return .failure(refusal)
        }
    }

    private func openCeremony(
        _ kind: StoredCeremony.Kind, of flow: Flow, next: String, at now: Int64, in tx: Transaction
    ) throws -> StoredCeremony {
        guard let ceremony = try tx.ceremony(flow.id), ceremony.kind == kind, ceremony.stage == .open, now < ceremony.expiresAt else {
            throw StepNotPossible(expected: next)
        }
        return ceremony
    }
}
