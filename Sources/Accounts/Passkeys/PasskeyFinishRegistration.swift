import Contract
import Crypto
import JSON
import ServiceContext
import Storage
import WebAuthn

extension PasskeyService {
    /// Verifies the response of a browser and stores the passkey.
    ///
    /// - Throws: `PasskeysOff`, `PasskeyNotAccepted`, `TooManyPasskeys`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `FlowUsed`, `FlowEnded`, `AccountDisabled`, `TokenRevoked`, `AccountLocked`, `TooManyFromClient`; in a sign-up also `SignUpNotAllowed`, `UserAlreadyExists`,
    ///   `FlowFinished`, `StepNotPossible`.
    public func finishRegistration(
        _ request: PasskeyFinishRegistration.Params, _ call: any CallContext
    ) throws -> PasskeyFinishRegistration.Result {
        let (now, name) = (context.clock.now, PasskeyFinishRegistration.info.name)
        let response = try PasskeyResponse(request.response, .registration, at: "/response")
        let fingerprint = flows.fingerprint(
            name,
            [.string(request.continuationToken), .object(request.response), request.name.map { .string($0) } ?? .null])
        let ceremonies = PasskeyCeremonies(context: context, configurations: configurations)
        let (ceremony, tenant) = try context.database.read {
            try ceremonies.find(request.continuationToken, .registration, at: now, in: $0)
        }
        let registrar = try PasskeyRegistrar(context, tenant, next: PasskeyStartRegistration.info.name, at: now)
        let finishing = Finishing(
            name: request.name, response: response, fingerprint: fingerprint, ceremony: ceremony, registrar: registrar)
        let client = try flows.admit(request.client, tenantId: tenant.id, at: now)
        do {
            if let flowId = ceremony.flowId { return try finish(finishing, ofSignUp: flowId, from: request.client, call, at: now) }
            return try context.database.write { tx in
                let (ceremony, tenant) = try ceremonies.find(request.continuationToken, .registration, at: now, in: tx)
                if let known = try repeated(ceremony, fingerprint, at: now, in: tx) { return .init(passkey: known.answer) }
                try tx.finish(ceremony, request: fingerprint, credentialId: response.credentialId, at: now)
                return .init(passkey: try register(finishing, tenant, call, at: now, in: tx).answer)
            }
        } catch  where error is PasskeyNotAccepted || error is AccountDisabled || error is TooManyPasskeys {
            try context.database.write { tx in
                try tx.refuse(ceremony)
                try tx.countFailure(of: client, at: now)
            }
            throw error
        }
    }

    /// A request with what was found out about it.
    private struct Finishing {
        let name: String?
        let response: PasskeyResponse
        let fingerprint: [UInt8]
        let ceremony: StoredCeremony
        let registrar: PasskeyRegistrar
    }

    /// Returns the passkey of a request that repeats the successful one.
    private func repeated(_ ceremony: StoredCeremony, _ request: [UInt8], at now: Int64, in tx: Transaction) throws -> PasskeyRecord? {
        guard isRepeated(ceremony, request, at: now) else { return nil }
        return try tx.passkey(ceremony.credentialId, in: ceremony.tenantId)
    }

    private func isRepeated(_ ceremony: StoredCeremony, _ request: [UInt8], at now: Int64) -> Bool {
        ceremony.stage == .finished && constantTimeEquals(ceremony.request, request) && now < ceremony.finishedAt + Flow.repeatSeconds
    }

    private func register(
        _ finishing: Finishing, _ tenant: TenantRecord, _ call: any CallContext, at now: Int64, in tx: Transaction
    ) throws -> PasskeyRecord {
        let (ceremony, method) = (finishing.ceremony, PasskeyFinishRegistration.info.name)
        let accountId = ceremony.accountId ?? ""
        try tx.lock([accountId])
        guard var account = try tx.account(accountId) else { throw FlowEnded(.accountDeleted) }
        if account.isDisabled { throw AccountDisabled(accountId: account.id) }
        if let sessionId = ceremony.sessionId, try tx.session(sessionId) == nil { throw try tx.loss(ofSession: sessionId) }
        try tx.requireUnlocked(account, tenant, at: now)
        let others = try tx.passkeys(of: account.id)
        if others.count(where: { $0.usage == .signIn }) >= PasskeyRecord.most {
            throw TooManyPasskeys(maximum: Int64(PasskeyRecord.most))
        }
        let passkey = try finishing.registrar.passkey(
            finishing.response, name: finishing.name, ceremony, of: account.id, among: others)
        guard try tx.insert(passkey, attestationObject: finishing.response.attestationObject) else {
            throw finishing.registrar.alreadyRegistered(finishing.response)
        }
        if account.method == .anonymous { account.method = .federated }
        account.updatedAt = now
        try tx.update(account)
        try context.notify(.providerLinked, AccountChange(account, tenant, by: method, at: now), what: SignInProof.passkeyProvider, in: tx)
        try context.audit.record(
            AuditEvent(method, call, tenant: tenant.id, subject: account.id, details: [("credentialId", passkey.id)]), at: now, in: tx)
        return passkey
    }

    /// Takes the step of a sign-up: the passkey is stored with the flow, or with the account if nothing else is missing.
    private func finish(
        _ finishing: Finishing, ofSignUp flowId: String, from origin: ClientOrigin?, _ call: any CallContext, at now: Int64
    ) throws -> PasskeyFinishRegistration.Result {
        let (ceremony, response) = (finishing.ceremony, finishing.response)
        guard let found = try context.database.read({ try $0.flow(flowId) }) else { throw ContinuationTokenExpired() }
        let service = SignUpService(context, configurations)
        if isRepeated(ceremony, finishing.fingerprint, at: now), let passkey = found.passkey?.passkey {
            return try Self.answer(passkey, service.answer(found, finishing.registrar.tenant))
        }
        if ceremony.stage != .open { throw FlowUsed() }
        // The token of the ceremony stands for the step at which the sign-up is now.
        let step = try flows.step(
            of: [.signUp], token: flows.token(of: found), by: PasskeyFinishRegistration.info.name, with: [.string(ceremony.id)],
            from: origin)
        var accepted: PasskeyRecord?
        let next = try service.take(step, call) { tx, flow, _ in
            try tx.finish(ceremony, request: finishing.fingerprint, credentialId: response.credentialId, at: now)
            let passkey = try finishing.registrar.passkey(response, name: finishing.name, ceremony, of: flow.accountId, among: [])
            guard try tx.passkey(passkey.credentialId, in: flow.tenantId) == nil else {
                throw finishing.registrar.alreadyRegistered(response)
            }
            flow.passkey = SignUpPasskey(userHandle: ceremony.userHandle)
            flow.passkey?.passkey = passkey
            flow.passkey?.attestationObject = response.attestationObject
            accepted = passkey
            return (.passkey, nil)
        }
        guard let accepted else { throw FlowUsed() }
        return try Self.answer(accepted, next)
    }

    private static func answer(_ passkey: PasskeyRecord, _ step: SignUpStep) throws -> PasskeyFinishRegistration.Result {
        switch step {
        case .attributesRequired(let next):
            .init(
                passkey: passkey.answer, state: .attributesRequired, continuationToken: next.continuationToken,
                expiresAt: next.expiresAt, attributes: next.attributes)
        case .completed(let next):
            .init(
                passkey: passkey.answer, state: .completed, continuationToken: next.continuationToken, expiresAt: next.expiresAt,
                accountId: next.accountId)
        case .codeRequired, .passwordRequired, .passkeyRequired, .redirectRequired: throw FlowUsed()
        }
    }
}
