import Contract
import ServiceContext

/// Implements the methods `tenant.*`.
public struct TenantService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }
}

extension TenantService: TenantHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
