import Contract
import ServiceContext

/// Mints the tokens of identity pools.
public struct PoolTokens: Sendable {
    let context: ServiceContext
    let configurations: PoolConfigurationCache

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// Returns the same with the store access of a call.
    func scoped(to call: any CallContext) -> PoolTokens { PoolTokens(context.scoped(to: call), configurations) }
}
