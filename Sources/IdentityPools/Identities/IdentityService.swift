import Contract
import ServiceContext
import Storage

/// The `identity.*` methods, for the identities of a pool.
public struct IdentityService: Sendable {
    let surroundings: ServiceContext
    let catalogue: PoolConfigurationCache

    public init(_ surroundings: ServiceContext, _ catalogue: PoolConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }

    func answer(_ identity: Identity, in tx: Transaction) throws -> IdentityDescription {
        IdentityDescription(
            identityId: identity.id, poolId: identity.poolId, state: IdentityState(rawValue: identity.state.rawValue) ?? .disabled,
            logins: try tx.providers(of: identity.id), createdAt: identity.createdAt, updatedAt: identity.updatedAt)
    }
}

extension IdentityService: IdentityHandlers {}
