import Contract
import ServiceContext

/// The `audit.*` methods.
public struct AuditService: Sendable {
    let context: ServiceContext

    public init(_ context: ServiceContext) { self.context = context }
}

extension AuditService: AuditHandlers {}
