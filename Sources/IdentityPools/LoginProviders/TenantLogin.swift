import Contract
import JSON
import ServiceContext

/// Proves logins by ID tokens of tenants of this store: with its own keys, and only while session and account are there.
struct TenantLogin: Sendable {
    private let realm: Realm
    private let tenants: any TenantLogins

    init(_ surroundings: ServiceContext, _ catalogue: PoolConfigurationCache) {
        realm = surroundings.realm
        tenants = catalogue.tenants
    }

    /// - Throws: `LoginTokenInvalid` naming the check that failed.
    func proof(of token: String, from provider: LoginProvider, tenantId: String, now: Int64) throws -> LoginProof {
        let verified: (accountId: String, claims: JSONNode)
        do {
            verified = try tenants.verify(idToken: token, tenantId: tenantId, now: now)
        } catch let error as any ContractError {
            guard let check = Self.check(error) else { throw error }
            throw LoginTokenInvalid(provider: provider.name, check: check, reason: error.message)
        }
        return LoginProof(
            of: verified.accountId, for: tenantId, from: provider, claims: verified.claims, realm: realm)
    }

    /// What `LoginTokenInvalid` calls the check of an error, nil for errors that say nothing of the token.
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
