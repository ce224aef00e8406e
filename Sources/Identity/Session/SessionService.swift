import Contract

/// Sessions: `session.*`.
public struct SessionService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue
    let completion: SignInCompletion

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        completion = SignInCompletion(surroundings, catalogue)
    }
}

extension SessionService: SessionHandlers {}
