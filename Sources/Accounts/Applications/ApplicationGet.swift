import Contract

extension ApplicationService {
    /// - Throws: `TenantNotFound`, `ClientUnknown`.
    public func get(_ request: ApplicationGet.Params, _ call: any CallContext) throws -> ApplicationGet.Result {
        try context.database.read { try configurations.tenant(request.tenantId, in: $0) }.knownApplication(request.clientId).answer
    }
}
