import Contract
import ServiceContext

/// The `audit.*` methods.
public struct AuditService: Sendable {
    let surroundings: ServiceContext

    public init(_ surroundings: ServiceContext) { self.surroundings = surroundings }
}

extension AuditService: AuditHandlers {}
