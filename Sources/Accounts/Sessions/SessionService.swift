import Contract

/// Implements the methods `session.*`.
public struct SessionService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache
    package var completion: SignInCompletion
    /// Whether the caller has verified the secret of the application.
    package var isClientAuthenticated = false

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        completion = SignInCompletion(context, configurations)
    }
}

extension SessionService: SessionHandlers {
    /// The parts of the service keep its own access: only methods that can wait use them.
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
