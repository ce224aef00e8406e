import Contract

/// What a test may do to a testing store: `test.*`.
public struct TestService: Sendable {
    let surroundings: Surroundings

    public init(_ surroundings: Surroundings) { self.surroundings = surroundings }
}

extension TestService: TestHandlers {}
