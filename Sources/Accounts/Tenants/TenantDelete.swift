import Contract
import ServiceContext
import SigningKeys

extension TenantService {
    /// Deletes a tenant with its accounts and keys. Its tokens are then rejected.
    ///
    /// - Throws: `TenantNotFound`, `TenantNotDeletable`.
    public func delete(_ request: TenantDelete.Params, _ call: any CallContext) throws -> TenantDelete.Result {
        let now = context.clock.now
        if request.tenantId == TenantRecord.defaultId { throw TenantNotDeletable(tenantId: request.tenantId) }
        try context.database.write { tx in
            guard try tx.deleteTenant(request.tenantId) else { throw TenantNotFound(tenantId: request.tenantId) }
            try tx.deletePeople(of: request.tenantId)
            try tx.deleteHooks(of: request.tenantId)
            try tx.deleteIdps(of: request.tenantId)
            try tx.deleteApplications(of: request.tenantId)
            try tx.deleteKeys(of: .tenant(request.tenantId))
            try tx.advanceEpoch()
            try context.audit.record(AuditEvent(TenantDelete.info.name, call, tenant: request.tenantId), at: now, in: tx)
        }
        return TenantDelete.Result(tenantId: request.tenantId)
    }
}
