import Contract
import ServiceContext

extension ApplicationService {
    /// Deletes an application and ends its sessions. Its pending flows end too, because they name an application that does not exist.
    ///
    /// - Throws: `TenantNotFound`, `ClientUnknown`.
    public func delete(_ request: ApplicationDelete.Params, _ call: any CallContext) throws -> ApplicationDelete.Result {
        let now = context.clock.now
        let ended = try context.database.write { tx in
            let tenant = try configurations.tenant(request.tenantId, in: tx)
            guard let application = try tx.application(request.clientId, of: tenant.id) else {
                throw ClientUnknown(tenantId: tenant.id, clientId: request.clientId)
            }
            try tx.advanceEpoch()
            let ended = try tx.delete(application)
            try context.audit.record(
                AuditEvent(ApplicationDelete.info.name, call, tenant: tenant.id, details: [("clientId", application.clientId)]), at: now,
                in: tx)
            return ended
        }
        return ApplicationDelete.Result(tenantId: request.tenantId, clientId: request.clientId, endedSessions: Int64(ended))
    }
}
