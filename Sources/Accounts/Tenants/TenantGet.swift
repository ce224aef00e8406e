import Contract

extension TenantService {
    /// - Throws: `TenantNotFound`.
    public func get(_ request: TenantGet.Params, _ call: any CallContext) throws -> TenantGet.Result {
        try context.database.read { try configurations.tenant(request.tenantId, in: $0) }.answer(in: context.realm)
    }
}
