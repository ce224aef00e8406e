import Contract
import ServiceContext

/// The `audit.*` methods.
public struct AuditService: Sendable {
    var context: ServiceContext

    public init(_ context: ServiceContext) { self.context = context }
}

extension AuditService: AuditHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
