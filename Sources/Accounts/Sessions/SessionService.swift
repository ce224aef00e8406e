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

extension SessionService {
    /// Returns this service for an API whose ID tokens always have the claims of Microsoft Entra.
    package var issuingProfiles: Self {
        var copy = self
        copy.completion.issuesProfiles = true
        return copy
    }

    /// Returns this service for a request that asks for authentication contexts.
    package func requesting(contexts: [String]) -> Self {
        var copy = self
        copy.completion.requestedContexts = contexts
        return copy
    }
}
