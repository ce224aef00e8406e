import Contract

/// What a test may do to a testing store: `test.*`.
public struct TestService: Sendable {
    let surroundings: Surroundings
    let loopback: LoopbackCompat

    public init(_ surroundings: Surroundings, _ loopback: LoopbackCompat) {
        self.surroundings = surroundings
        self.loopback = loopback
    }
}

extension TestService: TestHandlers {}
