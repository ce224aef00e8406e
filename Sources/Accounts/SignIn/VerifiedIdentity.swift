import Contract
import JSON

/// The identity that a credential of an identity provider proves, for the APIs of other products.
package struct VerifiedIdentity: Sendable {
    package let providerId: String
    package let subject: String
    package let email: String?
    /// Whether the provider's statement that the user owns the address is trusted.
    package let isEmailTrusted: Bool
    package let claims: JSONObject
    /// Replaces the credential in a later call, because it may be usable only once.
    package let pendingToken: String
}

extension SignInService {
    /// Verifies the credential of an identity provider. A credential that can be used only once is used by this call.
    ///
    /// - Throws: The errors of `CredentialVerifier`.
    package func identity(of credential: Credential, in tenantId: String, _ call: any CallContext) throws -> VerifiedIdentity {
        let proofs = CredentialVerifier(context, configurations)
        let proven = try proofs.prove(credential, in: tenantId, call, now: context.clock.now).value(for: call)
        guard case .provider(let identity, let spending) = proven else {
            throw InvalidCredential(providerId: "", check: "type", reason: "It is not the credential of an identity provider.")
        }
        if let spending { try context.database.write { try $0.spend(spending) } }
        return VerifiedIdentity(
            providerId: identity.providerId, subject: identity.subject, email: identity.email, isEmailTrusted: identity.isEmailTrusted,
            claims: identity.profile, pendingToken: proofs.pending.token(of: identity, in: tenantId, at: context.clock.now))
    }
}
