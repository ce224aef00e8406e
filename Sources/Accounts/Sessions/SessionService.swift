import Contract

/// Implements the methods `session.*`.
public struct SessionService: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    package let completion: SignInCompletion

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        completion = SignInCompletion(context, configurations)
    }
}

extension SessionService: SessionHandlers {}
