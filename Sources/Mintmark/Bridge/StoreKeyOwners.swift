import Accounts
import Contract
import IdentityPools
import ServiceContext
import SigningKeys
import Storage

/// The pools and tenants of a store, and its account, as owners of signing keys.
public struct StoreKeyOwners: KeyOwners {
    public init() {}

    public func algorithm(of owner: KeyOwner, in tx: Transaction) throws -> String {
        switch owner {
        case .pool(let id):
            guard let pool = try tx.pool(id) else { throw PoolNotFound(poolId: id) }
            return pool.signingAlgorithm
        case .tenant(let id):
            guard let tenant = try tx.tenant(id) else { throw TenantNotFound(tenantId: id) }
            return tenant.settings.signingAlgorithm.rawValue
        case .account: return "ES384"
        }
    }
}
