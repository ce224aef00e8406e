/// The second factor that was verified in a sign-in.
package struct VerifiedFactor: Sendable, Equatable {
    /// The value of `FactorRecord.Kind`, or `recovery`.
    package let kind: String
    package let factorId: String

    /// The placeholder for the recovery codes of an account.
    package static let recovery = VerifiedFactor(kind: "recovery", factorId: "recovery")

    /// The authentication method of RFC 8176: `sms` for a text message, otherwise `otp`.
    var method: String { kind == FactorRecord.Kind.sms.rawValue ? "sms" : "otp" }

    package init(kind: String, factorId: String) {
        self.kind = kind
        self.factorId = factorId
    }
}

extension SignInProof {
    /// Returns the proof with a second factor added, if there is one. `amr` then also contains `mfa` (RFC 8176 §2).
    func adding(_ factor: VerifiedFactor?) -> SignInProof {
        guard let factor else { return self }
        let added = [factor.method, "mfa"].filter { !amr.contains($0) }
        var proof = SignInProof(amr: amr + added, provider: provider, claims: claims, authenticatedAt: authenticatedAt)
        proof.secondFactor = factor
        proof.passkeyId = passkeyId
        return proof
    }
}
