import Contract
import JSON

/// Accounts of people: `account.*`.
public struct AccountService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }
}

extension AccountService: AccountHandlers {}
