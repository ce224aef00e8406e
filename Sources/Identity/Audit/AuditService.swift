import Contract

/// The record of changes: `audit.*`.
public struct AuditService: Sendable {
    let surroundings: Surroundings

    public init(_ surroundings: Surroundings) { self.surroundings = surroundings }
}

extension AuditService: AuditHandlers {}
