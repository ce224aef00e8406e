import Contract

/// The `idp.*` methods, which manage the identity providers of a tenant.
public struct IdpService: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }
}

extension IdpService: IdpHandlers {}
