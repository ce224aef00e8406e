import Contract

/// The identity providers that people of a tenant sign in with: `idp.*`.
public struct IdpService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }
}

extension IdpService: IdpHandlers {}
