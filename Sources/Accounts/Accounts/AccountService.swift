import Contract
import JSON

/// Implements the methods `account.*`.
public struct AccountService: Sendable {
    package private(set) var context: AccountsContext
    package let configurations: TenantConfigurationCache
    let identities: any LinkedIdentities
    let flows: Flows
    let sending: CodeSending

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache, identities: any LinkedIdentities) {
        self.context = context
        self.configurations = configurations
        self.identities = identities
        flows = Flows(context, configurations)
        sending = CodeSending(context)
    }

    /// `flows` and `sending` keep the service's own access: only methods that can wait use them.
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
