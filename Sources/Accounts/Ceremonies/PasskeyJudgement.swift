import Contract
import Storage
import WebAuthn

/// The judgement of a response to a sign-in with a passkey (WebAuthn Level 3 section 7.2 steps 5 to 22).
struct Judgement: Sendable {
    let tenant: TenantRecord
    /// The passkey that the response names, if it may be used in this ceremony.
    let passkey: PasskeyRecord?
    private let response: PasskeyResponse
    let ceremony: StoredCeremony
    private let settings: PasskeySettings
    private let preliminary: PasskeyRefusal?
    /// Whether the tenant has the passkey, even if it may not be used in this ceremony.
    private let isRegistered: Bool
    /// Whether a refusal must not tell real passkeys from invented ones.
    private let isHidden: Bool

    static let wrongSignature = PasskeyRefusal(.signatureInvalid, "The signature is not valid for the passkey's key.")

    /// The reasons that would tell real passkeys from invented ones.
    private static let telling: Set<PasskeyRefusalReason> = [
        .credentialNotAllowed, .credentialUnknown, .userHandleMismatch, .signatureInvalid, .counterRegressed, .backupEligibilityChanged,
    ]

    /// Finds the passkey and checks that it may be used (steps 5 and 6).
    init(_ response: PasskeyResponse, _ ceremony: StoredCeremony, _ tenant: TenantRecord, in tx: Transaction) throws {
        self.response = response
        self.ceremony = ceremony
        self.tenant = tenant
        settings = try tenant.passkeySettings()
        isHidden = ceremony.isByUsername && tenant.enumerationProtection
        let found = try tx.passkey(response.credentialId, in: tenant.id).flatMap {
            $0.relyingPartyId == tenant.settings.passkeys?.relyingPartyId ? $0 : nil
        }
        isRegistered = found != nil
        preliminary = Self.refusal(of: found, response, ceremony)
        passkey = preliminary == nil ? found : nil
    }

    private static func refusal(_ reason: PasskeyRefusalReason, _ detail: String) -> PasskeyRefusal { PasskeyRefusal(reason, detail) }

    private static func refusal(
        of passkey: PasskeyRecord?, _ response: PasskeyResponse, _ ceremony: StoredCeremony
    ) -> PasskeyRefusal? {
        if !ceremony.allowed.isEmpty, !ceremony.allowed.contains(response.id) {
            return refusal(.credentialNotAllowed, "The passkey is not one of allowCredentials.")
        }
        // A passkey that is only a second factor never signs in alone.
        guard let passkey, passkey.usage == .signIn || ceremony.kind == .challenge,
            ceremony.accountId == nil || passkey.accountId == ceremony.accountId
        else {
            return refusal(.credentialUnknown, "The \(ceremony.accountId == nil ? "tenant" : "account") has no such passkey.")
        }
        if let handle = response.userHandle {
            guard handle == passkey.userHandle else { return refusal(.userHandleMismatch, "The user handle is not that of the passkey.") }
        } else if ceremony.accountId == nil {
            return refusal(.userHandleMismatch, "The response has no user handle, which is required because no user was named.")
        }
        return nil
    }

    /// Returns whether the outcome of an earlier judgement of the same response is also that of this one: the passkey and the settings have
    /// not changed since.
    func isVerified(as earlier: Judgement) -> Bool {
        var (known, found) = (earlier.passkey, passkey)
        // The columns that a use changes do not affect the verification, except the counter, which `Transaction.markUsed` compares.
        known?.forgetUse()
        found?.forgetUse()
        return known == found && settings == earlier.settings && preliminary?.reason == earlier.preliminary?.reason
    }

    /// The outcome of the verification.
    var verified: Result<AcceptedAssertion, PasskeyRefusal> {
        do throws(PasskeyRefusal) { return .success(try verify()) } catch { return .failure(error) }
    }

    /// Verifies the response (steps 7 to 22).
    private func verify() throws(PasskeyRefusal) -> AcceptedAssertion {
        if let preliminary, !isHidden { throw preliminary }
        var credential = PasskeyDecoys.credential
        if let passkey {
            credential = StoredCredential(
                key: try CredentialKey.registered(passkey.publicKey), counter: UInt32(clamping: passkey.counter),
                backupEligible: passkey.isBackupEligible)
        }
        let expectation = CeremonyExpectation(
            challenge: ceremony.challenge, relyingParty: settings.relyingParty,
            requiresUserVerification: ceremony.requiresUserVerification)
        let assertion = try expectation.verify(
            AssertionResponse(
                clientData: response.clientData, authenticatorData: response.authenticatorData, signature: response.signature),
            of: credential)
        if let preliminary { throw preliminary }
        return assertion
    }

    /// The error for a refusal. A browser hides the passkey that it names as unknown, so one that is registered is not named.
    ///
    /// - Parameter next: The method that starts again; `nil` means the one that made the challenge.
    func answer(_ refusal: PasskeyRefusal, next: String? = nil) -> PasskeyNotAccepted {
        let shown = isHidden && Self.telling.contains(refusal.reason) ? Self.wrongSignature : refusal
        let unknown =
            shown.reason == .credentialUnknown && !isRegistered
            ? UnknownCredential(rpId: settings.relyingPartyId, credentialId: response.id) : nil
        let next = next ?? (ceremony.kind == .challenge ? MfaChallenge.info.name : PasskeyStartAuthentication.info.name)
        return PasskeyNotAccepted(shown, response.id, next: next, unknown: unknown)
    }
}
