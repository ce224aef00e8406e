import Accounts
import IdentityPools
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Verifies the ID tokens of a store's tenants for its pools.
public struct StoreTenantLogins: TenantLogins {
    private let verifier: TenantTokenVerifier

    public init(_ context: ServiceContext, _ signingKeys: SigningKeys) {
        verifier = TenantTokenVerifier(context: context, signingKeys: signingKeys)
    }

    public func exists(_ tenantId: String, in tx: Transaction) throws -> Bool { try tx.tenant(tenantId) != nil }

    public func verify(idToken: String, tenantId: String, now: Int64) throws -> (accountId: String, claims: JSONNode) {
        let verified = try verifier.verify(idToken, .init(audience: tenantId, tenantId: tenantId, use: .id), now: now)
        return (verified.accountId, verified.claims)
    }
}
