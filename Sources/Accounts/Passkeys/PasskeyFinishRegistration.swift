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
    ///   `FlowUsed`, `FlowEnded`, `AccountDisabled`, `TooManyFromClient`.
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
        let client = try flows.admit(request.client, tenantId: tenant.id, at: now)
        do {
            return try context.database.write { tx in
                let (ceremony, tenant) = try ceremonies.find(request.continuationToken, .registration, at: now, in: tx)
                if let known = try repeated(ceremony, fingerprint, at: now, in: tx) { return .init(passkey: known.answer) }
                try tx.finish(ceremony, request: fingerprint, credentialId: response.credentialId, at: now)
                let passkey = try register(response, name: request.name, ceremony, tenant, call: call, at: now, in: tx)
                return .init(passkey: passkey.answer)
            }
        } catch  where error is PasskeyNotAccepted || error is AccountDisabled || error is TooManyPasskeys {
            try context.database.write { tx in
                try tx.refuse(ceremony)
                try tx.countFailure(of: client, at: now)
            }
            throw error
        }
    }

    /// Returns the passkey of a request that repeats the successful one.
    private func repeated(_ ceremony: StoredCeremony, _ request: [UInt8], at now: Int64, in tx: Transaction) throws -> PasskeyRecord? {
        guard ceremony.stage == .finished, constantTimeEquals(ceremony.request, request),
            now < ceremony.finishedAt + Flow.repeatSeconds
        else { return nil }
        return try tx.passkey(ceremony.credentialId, in: ceremony.tenantId)
    }

    private func register(
        _ response: PasskeyResponse, name: String?, _ ceremony: StoredCeremony, _ tenant: TenantRecord, call: any CallContext,
        at now: Int64, in tx: Transaction
    ) throws -> PasskeyRecord {
        let (settings, method) = (try tenant.passkeySettings(), PasskeyFinishRegistration.info.name)
        let accountId = ceremony.accountId ?? ""
        try tx.lock([accountId])
        guard var account = try tx.account(accountId) else { throw FlowEnded(.accountDeleted) }
        if account.isDisabled { throw AccountDisabled(accountId: account.id) }
        let others = try tx.passkeys(of: account.id)
        if others.count >= PasskeyRecord.most { throw TooManyPasskeys(maximum: Int64(PasskeyRecord.most)) }
        let registered: RegisteredCredential
        do throws(PasskeyRefusal) {
            registered = try Registration(
                CeremonyExpectation(
                    challenge: ceremony.challenge, relyingParty: settings.relyingParty,
                    requiresUserVerification: ceremony.requiresUserVerification),
                algorithms: ceremony.algorithms.compactMap { CredentialKey.Algorithm(rawValue: Int($0)) },
                isConditional: ceremony.isConditional
            ).verify(
                RegistrationResponse(
                    rawID: response.credentialId, clientData: response.clientData, attestationObject: response.attestationObject),
                at: Int(now))
        } catch { throw PasskeyNotAccepted(error, response.id, next: PasskeyStartRegistration.info.name) }
        let passkey = PasskeyRecord(
            tenantId: tenant.id, credentialId: registered.credentialID, accountId: account.id, name: name ?? Self.newName(among: others),
            publicKey: registered.publicKey, algorithm: Int64(registered.algorithm.rawValue), counter: Int64(registered.counter),
            userHandle: ceremony.userHandle, transports: response.transports, isBackupEligible: registered.backupEligible,
            isBackedUp: registered.backedUp, isUserVerified: registered.userVerified, isDiscoverable: response.isDiscoverable,
            aaguid: registered.aaguid, attestationFormat: registered.attestation.format,
            attestationTrust: registered.attestation.trust.rawValue, relyingPartyId: settings.relyingPartyId, createdAt: now)
        guard try tx.insert(passkey, attestationObject: response.attestationObject) else {
            throw PasskeyNotAccepted(
                PasskeyRefusal(.alreadyRegistered, "The passkey is already registered in this tenant."), response.id,
                next: PasskeyStartRegistration.info.name)
        }
        if account.method == .anonymous { account.method = .federated }
        account.updatedAt = now
        try tx.update(account)
        try context.notify(.providerLinked, account, tenant, what: SignInProof.passkeyProvider, by: method, at: now, in: tx)
        try context.audit.record(
            AuditEvent(method, call, tenant: tenant.id, subject: account.id, details: [("credentialId", passkey.id)]), at: now, in: tx)
        return passkey
    }

    private static func newName(among passkeys: [PasskeyRecord]) -> String {
        var number = passkeys.count + 1
        while passkeys.contains(where: { $0.name == "Passkey \(number)" }) { number += 1 }
        return "Passkey \(number)"
    }
}

extension PasskeyNotAccepted {
    init(_ refusal: PasskeyRefusal, _ credentialId: String, next: String, unknown: UnknownCredential? = nil) {
        self.init(
            reason: Reason(rawValue: refusal.reason.rawValue) ?? .clientDataInvalid, detail: refusal.detail, credentialId: credentialId,
            next: next, unknownCredential: unknown)
    }
}
