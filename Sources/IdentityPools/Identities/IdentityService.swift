import Contract
import ServiceContext
import Storage

/// The `identity.*` methods, for the identities of a pool.
public struct IdentityService: Sendable {
    var context: ServiceContext
    let configurations: PoolConfigurationCache

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    func answer(_ identity: Identity, in tx: Transaction) throws -> IdentityDescription {
        IdentityDescription(
            identityId: identity.id, poolId: identity.poolId, state: IdentityState(rawValue: identity.state.rawValue) ?? .disabled,
            logins: try tx.providers(of: identity.id), createdAt: identity.createdAt, updatedAt: identity.updatedAt)
    }
}

extension IdentityService: IdentityHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
