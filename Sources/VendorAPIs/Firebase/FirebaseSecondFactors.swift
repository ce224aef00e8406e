import Accounts
import Contract
import Storage

/// Projects that require a second factor (`mfa.state` `MANDATORY`, or `mfa` `required` of the tenant).
///
/// The original API documents that users must sign in with a second factor, but its clients can enroll one only with an ID token. So a user
/// without a factor gets no tokens: an administrator adds the factor, or the user enrolled it before the project required it.
extension FirebaseCall {
    private static let missingFactor = FirebaseError(
        "OPERATION_NOT_ALLOWED : The project requires a second factor and the user has none. An administrator can add one.")

    /// - Throws: `FirebaseError` if the sign-in needs a second factor that the user does not have.
    func requireFactor(of facts: AccountFacts?, after proof: SignInProof) throws {
        if try tenantRecord().lacksFactor(proof, factors: facts?.factors ?? []) { throw Self.missingFactor }
    }

    /// - Throws: `FirebaseError` if the factor is the last one of a user who must have one.
    func requireNotLast(_ factors: [FactorRecord]) throws {
        if factors.count == 1, try tenantRecord().mfa == .required {
            throw FirebaseError("OPERATION_NOT_ALLOWED : The project requires a second factor, and this is the last one of the user.")
        }
    }

    /// - Throws: `FirebaseError` if the project has required a second factor since the session began without one.
    func requireFactor(_ facts: AccountFacts, in session: SessionRecord) throws {
        let tenant = try tenantRecord()
        guard tenant.mfa == .required else { return }
        let proof = session.proof
        if tenant.lacksFactor(proof, factors: facts.factors) || tenant.needsFactor(proof, factors: facts.factors) {
            throw FirebaseError("TOKEN_EXPIRED")
        }
    }

    /// The evidence of a user who is signed in and changes how to sign in. The new session is as old as the sign-in before it: the proof of
    /// a factor that was just added does not count as a new sign-in.
    func continued(_ user: FirebaseUser, amr: [String]? = nil, provider: String? = nil) -> SignInProof {
        let proof = user.session?.proof
        return SignInProof(
            amr: amr ?? proof?.amr ?? [], provider: provider ?? proof?.provider ?? user.provider, claims: proof?.claims ?? [:],
            authenticatedAt: user.signedInAt, secondFactor: proof?.secondFactor)
    }
}
