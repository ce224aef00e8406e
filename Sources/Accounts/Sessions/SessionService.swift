import Contract

/// Implements the methods `session.*`.
public struct SessionService: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    package let completion: SignInCompletion

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        completion = SignInCompletion(surroundings, catalogue)
    }
}

extension SessionService: SessionHandlers {}
