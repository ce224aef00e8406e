import Contract
import JSON

/// Implements the methods `account.*`.
public struct AccountService: Sendable {
    package let surroundings: AccountsContext
    package let catalogue: TenantConfigurationCache
    let identities: any LinkedIdentities
    let flows: Flows
    let sending: CodeSending

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache, identities: any LinkedIdentities) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        self.identities = identities
        flows = Flows(surroundings, catalogue)
        sending = CodeSending(surroundings)
    }
}
