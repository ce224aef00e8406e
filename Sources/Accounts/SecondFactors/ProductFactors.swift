extension TenantRecord {
    /// Whether a sign-in needs a second factor that the account does not have. An API of another product cannot enroll one in a sign-in.
    package func lacksFactor(_ proof: SignInProof, factors: [FactorRecord]) -> Bool {
        proof.secondFactor == nil && SecondFactorRule.decide(mfa, proof, factors) == .enrollment
    }

    /// Whether a sign-in must show one of the second factors of the account.
    package func needsFactor(_ proof: SignInProof, factors: [FactorRecord]) -> Bool {
        guard proof.secondFactor == nil, case .challenge = SecondFactorRule.decide(mfa, proof, factors) else { return false }
        return true
    }
}
