import Accounts
import IdentityPools
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Verifies the ID tokens of a store's tenants for its pools.
public struct StoreTenantLogins: TenantLogins {
    private let signingKeys: SigningKeys

    public init(_ signingKeys: SigningKeys) { self.signingKeys = signingKeys }

    public func exists(_ tenantId: String, in tx: Transaction) throws -> Bool { try tx.tenant(tenantId) != nil }

    public func verify(
        idToken: String, tenantId: String, now: Int64, in context: ServiceContext
    ) throws -> (accountId: String, claims: JSONNode) {
        let verifier = TenantTokenVerifier(context: context, signingKeys: signingKeys)
        let verified = try verifier.verify(idToken, .init(audience: tenantId, tenantId: tenantId, use: .id), now: now)
        return (verified.accountId, verified.claims)
    }
}
