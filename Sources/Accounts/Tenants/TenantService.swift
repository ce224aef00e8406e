import Contract
import ServiceContext

/// Implements the methods `tenant.*`.
public struct TenantService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }
}

extension TenantService: TenantHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}

extension AuditEvent {
    /// Creates the event of a change in a tenant.
    package init(_ method: String, _ call: any CallContext, tenant: String, subject: String? = nil, details: [(String, String)] = []) {
        self.init(method: method, by: call, subject: subject, details: ["tenantId": .string(tenant)])
        for (name, value) in details { self.details[name] = .string(value) }
    }
}
