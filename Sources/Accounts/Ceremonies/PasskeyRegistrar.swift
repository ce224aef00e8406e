import Contract
import Storage
import WebAuthn

/// Verifies the response to a registration (WebAuthn Level 3 section 7.1) and makes the record of the passkey.
struct PasskeyRegistrar: Sendable {
    let tenant: TenantRecord
    let settings: PasskeySettings
    private let trust: AttestationTrust
    /// The method that starts again after a refusal.
    private let next: String
    let now: Int64

    /// Reads the metadata of authenticators if it has changed. Call this outside of transactions.
    ///
    /// - Throws: `PasskeysOff`.
    init(_ context: AccountsContext, _ tenant: TenantRecord, next: String, at now: Int64) throws {
        self.tenant = tenant
        settings = try tenant.passkeySettings()
        trust = context.authenticatorMetadata.trust(settings, at: now)
        self.next = next
        self.now = now
    }

    /// - Parameters:
    ///   - others: The passkeys of the account, for the default name.
    /// - Throws: `PasskeyNotAccepted`.
    func passkey(
        _ response: PasskeyResponse, name: String?, _ ceremony: StoredCeremony, of accountId: String, among others: [PasskeyRecord]
    ) throws -> PasskeyRecord {
        let registered: RegisteredCredential
        do throws(PasskeyRefusal) {
            registered = try Registration(
                CeremonyExpectation(
                    challenge: ceremony.challenge, relyingParty: settings.relyingParty,
                    requiresUserVerification: ceremony.requiresUserVerification),
                algorithms: ceremony.algorithms.compactMap { CredentialKey.Algorithm(rawValue: Int($0)) },
                isConditional: ceremony.isConditional, trust: trust
            ).verify(
                RegistrationResponse(
                    rawID: response.credentialId, clientData: response.clientData, attestationObject: response.attestationObject),
                at: Int(now))
        } catch { throw PasskeyNotAccepted(error, response.id, next: next) }
        let attestation = registered.attestation
        let model = attestation.authenticatorName.flatMap { $0.isEmpty ? nil : String($0.prefix(128)) }
        var passkey = PasskeyRecord(
            tenantId: tenant.id, credentialId: registered.credentialID, accountId: accountId,
            name: name ?? model ?? Self.newName(among: others), publicKey: registered.publicKey,
            algorithm: Int64(registered.algorithm.rawValue), counter: Int64(registered.counter), userHandle: ceremony.userHandle,
            transports: response.transports, isBackupEligible: registered.backupEligible, isBackedUp: registered.backedUp,
            isUserVerified: registered.userVerified, isDiscoverable: response.isDiscoverable, aaguid: registered.aaguid,
            attestationFormat: attestation.format, attestationTrust: attestation.trust.rawValue,
            relyingPartyId: settings.relyingPartyId, createdAt: now)
        passkey.usage = ceremony.kind == .enrollment ? .secondFactor : .signIn
        passkey.authenticatorName = attestation.authenticatorName
        passkey.isHardwareProtected = attestation.trust == .verified ? attestation.hasHardwareProtection : nil
        return passkey
    }

    /// The error for a credential ID that the tenant has already.
    func alreadyRegistered(_ response: PasskeyResponse) -> PasskeyNotAccepted {
        PasskeyNotAccepted(
            PasskeyRefusal(.alreadyRegistered, "The passkey is already registered in this tenant."), response.id, next: next)
    }

    static func newName(among passkeys: [PasskeyRecord]) -> String {
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
