import Contract
import ServiceContext

extension IdpService {
    /// Deletes an identity provider. The logins of accounts at the provider are kept.
    ///
    /// - Throws: `TenantNotFound`, `IdpNotFound`.
    public func delete(_ request: IdpDelete.Params, _ call: any CallContext) throws -> IdpDelete.Result {
        let now = context.clock.now
        try context.database.write { tx in
            let idp = try tx.existingIdp(request.providerId, of: try configurations.tenant(request.tenantId, in: tx).id)
            guard try tx.deleteIdp(idp.providerId, of: idp.tenantId) else {
                throw IdpNotFound(tenantId: idp.tenantId, providerId: idp.providerId)
            }
            try tx.advanceEpoch()
            try context.audit.record(AuditEvent(IdpDelete.info.name, call, idp), at: now, in: tx)
        }
        return IdpDelete.Result(tenantId: request.tenantId, providerId: request.providerId)
    }
}
