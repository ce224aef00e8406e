import Contract
import Crypto
import JSON
import Messages
import Platform
import Storage

/// The user who enrolls a factor.
struct EnrollingUser {
    let account: AccountRecord
    let proof: SignInProof
    /// Whether the sign-in is recent.
    let isRecent: Bool
}

extension MfaService {
    /// The kinds of flows that can enroll a factor.
    static let enrollments: [Flow.Kind] = [.factorEnrollment] + signIns

    /// Starts the enrollment of a factor.
    ///
    /// - Throws: the errors of ID token verification; `SecondFactorsOff`, `UnsupportedFirstFactor`, `EmailNotVerified`,
    ///   `RecentSignInRequired`, `SecondFactorNeeded`, `TooManyFactors`, `FactorExists`, `FactorAddsNothing`, `FactorTargetMissing`,
    ///   `InvalidUsername`, `InvalidPhoneNumber`, `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`.
    public func enroll(_ request: MfaEnroll.Params, _ call: any CallContext) throws -> MfaEnroll.Result {
        let now = context.clock.now
        let named: String =
            switch request.account {
            case .idToken(let token): token
            case .continuationToken(let token): token
            }
        let texts = [request.displayName, request.email, request.phoneNumber, request.language].map { text -> JSONValue in
            text.map { .string($0) } ?? .null
        }
        let fingerprint = flows.fingerprint(
            MfaEnroll.info.name, [.string(named), .string(request.kind.rawValue)] + texts + (request.skipVerified ? [.bool(true)] : []))
        let source = try source(of: request, fingerprint, at: now)
        let client = try flows.admit(request.client, tenantId: source.tenant.id, at: now)
        let kind = FactorRecord.Kind(rawValue: request.kind.rawValue) ?? .totp
        var draft = FactorDraft(
            id: Base64URL.encode(context.random.bytes(21)), kind: kind, displayName: request.displayName,
            target: try target(of: request, source.account),
            secret: kind == .totp ? context.random.bytes(TOTP.secretCount) : nil)
        if kind == .passkey { _ = try source.tenant.passkeySettings() }
        let draws = PasskeyDraws(context)
        draft.isVerified = request.skipVerified && kind == .email && source.account.hasVerified(draft.target)
        let enrolled = draft
        guard let recipient = draft.recipient, !draft.isVerified else {
            let flow = try context.database.write { tx in
                try tx.lock([Flows.lockName(address: source.address), source.account.id])
                switch try source.draft(self, enrolled, fingerprint, at: now, in: tx) {
                case .repeated(let flow): return flow
                case .send(var flow, let isNew):
                    flow.code = Flow.Code()
                    if isNew { try tx.insert(flow) }
                    try source.commit(enrolled.sealed(in: flow.id, context.vault), to: &flow, by: fingerprint, at: now, in: tx)
                    try tx.update(flow)
                    if kind == .passkey { try start(flow, source, draws, at: now, in: tx) }
                    return flow
                }
            }
            return try answer(flow, source, request.qr)
        }
        let purpose: MessagePurpose = recipient.channel == .email ? .verifyAddress : .signIn
        let flow = try sending.by(call).send(
            .init(
                purpose: purpose, tenant: source.tenant, recipient: { _ in recipient },
                locks: [Flows.lockName(address: source.address), source.account.id], client: client, now: now),
            draft: { try source.draft(self, enrolled, fingerprint, at: now, in: $0) },
            commit: { try source.commit(enrolled.sealed(in: $1.id, context.vault), to: &$1, by: fingerprint, at: now, in: $0) })
        return try answer(flow, source, request.qr)
    }

    /// Returns the recipient of codes in stored form, or `nil` for a TOTP app.
    private func target(of request: MfaEnroll.Params, _ account: AccountRecord) throws -> String? {
        switch request.kind {
        case .totp, .passkey:
            if request.email != nil || request.phoneNumber != nil {
                throw FactorTargetMissing(kind: request.kind.rawValue, needed: "neither email nor phoneNumber")
            }
            return nil
        case .email:
            guard request.phoneNumber == nil, let address = request.email ?? account.email else {
                throw FactorTargetMissing(kind: request.kind.rawValue, needed: "email and no phoneNumber")
            }
            return try Username(address).typed
        case .sms:
            guard request.email == nil, let number = request.phoneNumber else {
                throw FactorTargetMissing(kind: request.kind.rawValue, needed: "phoneNumber and no email")
            }
            do { return try PhoneNumber(number).description } catch { throw InvalidPhoneNumber(reason: error.description) }
        }
    }

    /// - Throws: the refusals of `EnrollmentRule`.
    func permit(_ draft: FactorDraft, for user: EnrollingUser, tenant: TenantRecord, in tx: Transaction) throws {
        let (account, proof) = (user.account, user.proof)
        try FactorProfile.check(draft.kind, of: account, tenant, in: tx)
        let facts = EnrollmentRule.Facts(
            policy: tenant.mfa, signInProvider: proof.provider, hasSecondFactor: proof.secondFactor != nil, kind: draft.kind,
            target: draft.target, email: account.email, isEmailVerified: account.isEmailVerified, ownWayIn: account.ownWayIn,
            isRecent: user.isRecent, factors: try tx.factors(of: account.id))
        do throws(EnrollmentRule.Refusal) { try EnrollmentRule.check(facts) } catch {
            switch error {
            case .off: throw SecondFactorsOff(tenantId: tenant.id)
            case .unsupportedFirstFactor: throw UnsupportedFirstFactor(signInProvider: proof.provider)
            case .emailNotVerified: throw EmailNotVerified()
            case .tooOld:
                throw RecentSignInRequired(
                    authenticatedAt: proof.authenticatedAt ?? 0, maximumAgeSeconds: RecentSignIn.maximumAgeSeconds)
            case .secondFactorNeeded: throw SecondFactorNeeded()
            case .tooMany: throw TooManyFactors(maximum: Int64(FactorRecord.most))
            case .exists(let id): throw FactorExists(factorId: id)
            case .addsNothing: throw FactorAddsNothing()
            }
        }
    }

    /// The result for the draft that is stored with the flow.
    private func answer(_ flow: Flow, _ source: EnrollmentSource, _ qr: MfaEnroll.Params.Qr?) throws -> EnrollmentStep {
        guard let sealed = try context.database.read({ try $0.factorStep(of: flow.id)?.draft }) else {
            throw ContinuationTokenInvalid()
        }
        let (draft, tenant, token) = (try FactorDraft(sealed, of: flow.id, context.vault), source.tenant, flows.token(of: flow))
        let (sentTo, resendAt) = (draft.recipient?.masked ?? "***", flow.code.sentAt + tenant.codes.resendAfterSeconds)
        switch draft.kind {
        case .passkey:
            guard let ceremony = try context.database.read({ try $0.ceremony(flow.id) }) else { throw ContinuationTokenInvalid() }
            return try answer(ceremony, flow, source)
        case .totp:
            guard let bytes = draft.secret else { throw ContinuationTokenInvalid() }
            let secret = Base32.encode(bytes)
            let uri = TOTP.uri(secret: secret, issuer: tenant.settings.name ?? tenant.id, account: source.account.email ?? "unknownuser")
            let code = qr.flatMap { form in QRCode(uri).map { form == .svg ? $0.svg : $0.terminalText } }
            return .totp(
                .init(
                    continuationToken: token, factorId: draft.id, secret: secret, otpauthUri: uri, qrCode: code, algorithm: TOTP.algorithm,
                    periodSeconds: TOTP.periodSeconds, codeLength: Int64(TOTP.digits),
                    expiresAt: flow.expiresAt))
        case .email:
            return .email(
                .init(
                    continuationToken: token, factorId: draft.id, verified: draft.isVerified ? true : nil, sentTo: sentTo,
                    channel: .email, codeLength: tenant.codes.length, resendAt: draft.isVerified ? flow.requestedAt : resendAt,
                    expiresAt: draft.isVerified ? flow.expiresAt : flow.code.expiresAt))
        case .sms:
            return .sms(
                .init(
                    continuationToken: token, factorId: draft.id, sentTo: sentTo, channel: .sms, codeLength: tenant.codes.length,
                    resendAt: resendAt, expiresAt: flow.code.expiresAt))
        }
    }
}

extension AccountRecord {
    /// Whether `address` is the verified email address of the account.
    func hasVerified(_ address: String?) -> Bool {
        guard let address, let email else { return false }
        return isEmailVerified && Username.fold(address) == Username.fold(email)
    }
}
