import Contract

/// Implements the methods `application.*`, which manage the applications of a tenant.
public struct ApplicationService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }
}

extension ApplicationService: ApplicationHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
