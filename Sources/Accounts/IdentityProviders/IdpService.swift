import Contract

/// The `idp.*` methods, which manage the identity providers of a tenant.
public struct IdpService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }
}

extension IdpService: IdpHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
