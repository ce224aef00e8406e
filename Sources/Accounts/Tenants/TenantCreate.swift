import Contract
import Crypto
import ServiceContext
import SigningKeys

extension TenantService {
    /// Creates a tenant with its own signing key, which is active immediately.
    ///
    /// - Throws: `TenantExists`, `InvalidTenantSettings`.
    public func create(_ request: TenantCreate.Params, _ call: any CallContext) throws -> TenantCreate.Result {
        let now = context.clock.now
        try TenantRules.check(request)
        try TenantRules.checkFiles(of: request, at: now)
        let algorithm = Crypto.SigningAlgorithm(rawValue: request.signingAlgorithm.rawValue)!
        let key = try NewSigningKey(for: .tenant(request.tenantId), algorithm: algorithm, activeAt: now, context.service)
        var settings = request
        settings.delivery = request.delivery?.sealed(for: request.tenantId, context.vault)
        let tenant = TenantRecord(settings, createdAt: now, updatedAt: now)
        try context.database.write { tx in
            guard try tx.insert(tenant) else { throw TenantExists(tenantId: tenant.id) }
            try tx.insert(key, at: now)
            try context.audit.record(
                AuditEvent(TenantCreate.info.name, call, tenant: tenant.id, details: [("kid", key.kid)]), at: now, in: tx)
        }
        return tenant.answer(in: context.realm)
    }
}
