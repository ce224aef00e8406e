import Contract
import ServiceContext

extension AuditEvent {
    /// Creates the event of a change in a tenant.
    package init(_ method: String, _ call: any CallContext, tenant: String, subject: String? = nil, details: [(String, String)] = []) {
        self.init(method: method, by: call, subject: subject, details: ["tenantId": .string(tenant)])
        for (name, value) in details { self.details[name] = .string(value) }
    }
}
