import Contract

/// What a test may do to a testing store: `test.*`.
public struct TestService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue
    let loopback: LoopbackCompat
    let provider: TestProvider
    let housekeeping: Housekeeping
    let snapshots = KeptSnapshots()

    public init(
        _ surroundings: Surroundings, _ catalogue: Catalogue, _ loopback: LoopbackCompat, _ provider: TestProvider,
        _ housekeeping: Housekeeping
    ) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        self.loopback = loopback
        self.provider = provider
        self.housekeeping = housekeeping
    }
}

extension TestService: TestHandlers {}
