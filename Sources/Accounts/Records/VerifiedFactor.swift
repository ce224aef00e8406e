/// The second factor that was verified in a sign-in.
package struct VerifiedFactor: Sendable, Equatable {
    /// The value of `FactorRecord.Kind`, or `recovery`.
    package let kind: String
    package let factorId: String
    /// The authentication methods and the strength of a passkey; empty for the other kinds, and in a stored session.
    private(set) var passkeyMethods: [String] = []
    private(set) var acr: String?

    /// The placeholder for the recovery codes of an account.
    package static let recovery = VerifiedFactor(kind: "recovery", factorId: "recovery")

    /// The authentication methods of RFC 8176: `sms` for a text message, those of a passkey, otherwise `otp`.
    var methods: [String] {
        passkeyMethods.isEmpty ? [kind == FactorRecord.Kind.sms.rawValue ? "sms" : "otp"] : passkeyMethods
    }

    package init(kind: String, factorId: String) {
        self.kind = kind
        self.factorId = factorId
    }

    /// The second factor of a stored session, whose authentication methods contain those of the factor.
    init(kind: String, factorId: String, amr: [String], acr: String?) {
        self.init(kind: kind, factorId: factorId)
        guard kind == FactorRecord.Kind.passkey.rawValue else { return }
        passkeyMethods = amr.filter { ["hwk", "swk", "user"].contains($0) }
        self.acr = acr
    }

    /// A passkey that was used as a second factor.
    init(_ passkey: PasskeyRecord) {
        self.init(kind: FactorRecord.Kind.passkey.rawValue, factorId: FactorRecord.id(ofPasskey: passkey.credentialId))
        passkeyMethods = PasskeyMethods.methods(of: passkey)
        acr = PasskeyMethods.strength(of: passkey)
    }
}

extension SignInProof {
    /// Returns the proof with a second factor added, if there is one. `amr` then also contains `mfa` (RFC 8176 §2).
    func adding(_ factor: VerifiedFactor?) -> SignInProof {
        guard let factor else { return self }
        let added = (factor.methods + ["mfa"]).filter { !amr.contains($0) }
        var proof = SignInProof(amr: amr + added, provider: provider, claims: claims, authenticatedAt: authenticatedAt)
        proof.secondFactor = factor
        proof.passkeyId = passkeyId
        proof.acr = acr == PasskeyMethods.strong ? acr : factor.acr ?? acr
        return proof
    }
}
