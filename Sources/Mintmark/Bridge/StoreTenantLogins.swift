import Accounts
import IdentityPools
import JSON
import ServiceContext
import Storage

/// Verifies the ID tokens of a store's tenants for its pools.
public struct StoreTenantLogins: TenantLogins {
    private let configurations: TenantConfigurationCache

    public init(_ configurations: TenantConfigurationCache) { self.configurations = configurations }

    public func exists(_ tenantId: String, in tx: Transaction) throws -> Bool { try tx.tenant(tenantId) != nil }

    public func verify(
        idToken: String, tenantId: String, now: Int64, in context: ServiceContext
    ) throws -> (accountId: String, claims: JSONNode) {
        let verifier = TenantTokenVerifier(context: context, configurations: configurations)
        let verified = try verifier.verify(idToken, .init(audience: tenantId, tenantId: tenantId, use: .id), now: now)
        return (verified.accountId, verified.claims)
    }
}
