import Contract
import Platform
import Storage
import WebAuthn

extension PasskeyService {
    /// The shortest challenge of a caller, in bytes (WebAuthn Level 3 section 13.4.3).
    private static let shortestChallenge = 16

    /// Verifies a response to a challenge of the caller as a sign-in does, and writes nothing.
    ///
    /// - Throws: `TenantNotFound`, `PasskeysOff`, `PasskeyNotAccepted`, `AccountNotFound`, `AccountMerged`, `TenantDisabled`,
    ///   `AccountLocked`, `AccountDisabled`.
    public func verify(_ request: PasskeyVerify.Params, _ call: any CallContext) throws -> PasskeyVerify.Result {
        let now = context.clock.now
        guard let challenge = Base64URL.decode(request.challenge.utf8), challenge.count >= Self.shortestChallenge else {
            let message = "challenge must be base64url without padding, of at least \(Self.shortestChallenge) bytes."
            throw InvalidParams(violations: [Violation(pointer: "/challenge", rule: "pattern", message: message)])
        }
        let response = try PasskeyResponse(request.response, .authentication, at: "/response")
        let (judgement, standing) = try context.database.read { tx in
            let tenant = try configurations.tenant(request.tenantId, in: tx)
            let ceremony = StoredCeremony(of: request, requiresUserVerification: try tenant.requiresUserVerification(), until: now)
            let judgement = try Judgement(response, ceremony, tenant, in: tx)
            if let passkey = judgement.passkey { return (judgement, try PasskeyStanding(of: passkey, at: now, in: tx)) }
            if let id = request.accountId, try tx.account(id)?.tenantId != tenant.id { throw try tx.absence(of: id) }
            return (judgement, nil)
        }
        // The signature is verified outside of the transaction, and before the account is judged.
        let assertion: AcceptedAssertion
        switch judgement.verified {
        case .success(let accepted): assertion = accepted
        case .failure(let refusal): throw judgement.answer(refusal, next: PasskeyVerify.info.name)
        }
        guard let passkey = judgement.passkey, let standing else {
            throw judgement.answer(Judgement.wrongSignature, next: PasskeyVerify.info.name)
        }
        try judgement.tenant.requireEnabled()
        let account = try standing.unlocked(at: now)
        try account.requireEnabled()
        return PasskeyVerify.Result(
            accountId: account.id, credentialId: passkey.id, userVerified: assertion.userVerified,
            twoFactors: passkey.isTwoFactors(assertion), backupEligible: passkey.isBackupEligible, backupState: assertion.backedUp,
            signCount: Int64(assertion.counter))
    }
}

extension TenantRecord {
    /// Whether sign-ins with passkeys need the verification of the user. It is what makes a passkey two factors.
    ///
    /// - Throws: `PasskeysOff`.
    func requiresUserVerification() throws -> Bool { try passkeySettings().userVerification == .required || mfa == .required }
}

extension StoredCeremony {
    /// The ceremony of a caller, which is not stored.
    fileprivate init(of request: PasskeyVerify.Params, requiresUserVerification isDefault: Bool, until now: Int64) {
        self.init(
            id: "", tenantId: request.tenantId, kind: .authentication, accountId: request.accountId, challenge: request.challenge,
            expiresAt: now)
        requiresUserVerification = request.userVerification.map { $0 == .required } ?? isDefault
    }
}
