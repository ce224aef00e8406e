/// The second factor that somebody has shown.
package struct ShownFactor: Sendable, Equatable {
    /// As in `FactorRecord.Kind`, or `recovery`.
    package let kind: String
    package let factorId: String

    /// What stands for the recovery codes of an account.
    package static let recovery = ShownFactor(kind: "recovery", factorId: "recovery")

    /// RFC 8176 for it: a text message, else a one-time password.
    var method: String { kind == FactorRecord.Kind.sms.rawValue ? "sms" : "otp" }

    package init(kind: String, factorId: String) {
        self.kind = kind
        self.factorId = factorId
    }
}

extension SignInProof {
    /// The same with a second factor beside it, if there is one (RFC 8176: `mfa` stands beside the methods).
    func adding(_ factor: ShownFactor?) -> SignInProof {
        guard let factor else { return self }
        let added = [factor.method, "mfa"].filter { !amr.contains($0) }
        var proof = SignInProof(amr: amr + added, provider: provider, claims: claims, authenticatedAt: authenticatedAt)
        proof.secondFactor = factor
        return proof
    }
}
