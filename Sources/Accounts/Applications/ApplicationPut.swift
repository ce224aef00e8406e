import Contract
import ServiceContext
import Storage

extension ApplicationService {
    /// Creates or replaces an application.
    ///
    /// - Throws: `TenantNotFound`, `InvalidApplication`, `TooManyApplications`.
    public func put(_ request: ApplicationPut.Params, _ call: any CallContext) throws -> ApplicationPut.Result {
        let now = context.clock.now
        let newId = context.random.uuid()
        let application = try context.database.write { tx in
            try tx.lock([KeyOwner.tenant(request.tenantId).path])
            guard let tenant = try tx.tenant(request.tenantId) else { throw TenantNotFound(tenantId: request.tenantId) }
            let application = try tx.plan(request, of: tenant, newId: newId, at: now)
            try tx.advanceEpoch()
            try tx.put(application)
            try context.audit.record(
                AuditEvent(ApplicationPut.info.name, call, tenant: tenant.id, details: [("clientId", application.clientId)]), at: now,
                in: tx)
            return application
        }
        return application.answer
    }
}

extension Transaction {
    /// Returns the application that a request creates or changes, after validating it.
    ///
    /// - Throws: `InvalidApplication`, `TooManyApplications`.
    package func plan(
        _ request: ApplicationPut.Params, of tenant: TenantRecord, newId: String, at now: Int64
    ) throws -> ApplicationRecord {
        try ApplicationRules.check(request, of: tenant)
        let existing = try application(request.clientId, of: tenant.id)
        if let existing, !existing.secrets.isEmpty, request.type == .public {
            throw InvalidApplication(
                pointer: "/type",
                reason: "the application has secrets, so it must stay confidential; delete it and create it again to make it public")
        }
        if existing == nil, try countApplications(of: tenant.id) >= ApplicationRecord.most {
            throw TooManyApplications(tenantId: tenant.id, maximum: Int64(ApplicationRecord.most))
        }
        var planned = ApplicationRecord(
            id: existing?.id ?? newId, settings: request, createdAt: existing?.createdAt ?? now, updatedAt: now)
        planned.secrets = existing?.secrets ?? []
        return planned
    }
}
