import Contract

/// The identity providers that people of a tenant sign in with: `idp.*`.
public struct IdpService: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }
}

extension IdpService: IdpHandlers {}
