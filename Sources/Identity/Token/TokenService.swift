import Contract

/// Tokens: `token.*`.
public struct TokenService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }
}

extension TokenService: TokenHandlers {}
