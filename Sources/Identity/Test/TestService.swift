import Contract

/// What a test may do to a testing store: `test.*`.
public struct TestService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue
    let loopback: LoopbackCompat

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue, _ loopback: LoopbackCompat) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        self.loopback = loopback
    }
}

extension TestService: TestHandlers {}
