import Contract
import ServiceContext

/// Mints the tokens of identity pools.
public struct PoolTokens: Sendable {
    let surroundings: ServiceContext
    let catalogue: PoolConfigurationCache

    public init(_ surroundings: ServiceContext, _ catalogue: PoolConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }
}
