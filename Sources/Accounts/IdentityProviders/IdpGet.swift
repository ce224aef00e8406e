import Contract

extension IdpService {
    /// - Throws: `TenantNotFound`, `IdpNotFound`.
    public func get(_ request: IdpGet.Params, _ call: any CallContext) throws -> IdpGet.Result {
        try context.database.read { tx in try configurations.idp(request.providerId, of: request.tenantId, in: tx) }.answer
    }
}
