import Contract
import JSON

/// Accounts of people: `account.*`.
public struct AccountService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue
    let flows: Flows
    let sending: CodeSending

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        flows = Flows(surroundings, catalogue)
        sending = CodeSending(surroundings)
    }
}

extension AccountService: AccountHandlers {}
