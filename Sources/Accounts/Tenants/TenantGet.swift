import Contract

extension TenantService {
    /// - Throws: `TenantNotFound`.
    public func get(_ request: TenantGet.Params, _ call: any CallContext) throws -> TenantGet.Result {
        try surroundings.database.read { try catalogue.tenant(request.tenantId, in: $0) }.answer(in: surroundings.realm)
    }
}
