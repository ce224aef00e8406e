import Contract
import JSON
import ServiceContext

/// Verifies logins with ID tokens of tenants of this store, with the store's own keys. Session and account must still exist.
struct TenantLogin: Sendable {
    private let context: ServiceContext
    private let tenants: any TenantLogins

    init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        tenants = configurations.tenants
    }

    /// - Throws: `LoginTokenInvalid` with the name of the failed check.
    func proof(of token: String, from provider: LoginProvider, tenantId: String, now: Int64) throws -> VerifiedLogin {
        let verified: (accountId: String, claims: JSONNode)
        do {
            verified = try tenants.verify(idToken: token, tenantId: tenantId, now: now, in: context)
        } catch let error as any ContractError {
            guard let check = Self.check(error) else { throw error }
            throw LoginTokenInvalid(provider: provider.name, check: check, reason: error.message)
        }
        return VerifiedLogin(
            of: verified.accountId, for: tenantId, from: provider, claims: verified.claims, realm: context.realm)
    }

    /// Returns the name of the failed check for `LoginTokenInvalid`, or `nil` if the error does not concern the token.
    private static func check(_ error: any ContractError) -> String? {
        switch error {
        case is TokenMalformed: "malformed"
        case is TokenAlgorithmNotAllowed, is TokenKeyUnknown, is TokenSignatureInvalid: "signature"
        case is TokenIssuerMismatch: "issuer"
        case is TokenAudienceMismatch: "audience"
        case is TokenUseMismatch: "use"
        case is TokenNotYetValid: "notYetValid"
        case is TokenExpired: "expired"
        case is TokenRevoked, is AccountMerged: "revoked"
        default: nil
        }
    }
}
