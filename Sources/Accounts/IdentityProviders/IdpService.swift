import Contract

/// The `idp.*` methods, which manage the identity providers of a tenant.
public struct IdpService: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }
}

extension IdpService: IdpHandlers {}
