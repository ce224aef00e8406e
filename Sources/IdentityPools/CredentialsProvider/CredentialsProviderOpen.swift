import Contract
import Platform
import ServiceContext

extension CredentialsProviderService {
    /// Opens a provider with the identity that is stored under its key.
    ///
    /// - Throws: `PoolNotFound`, `TooManyProviders`; `InvalidParams` if a role is given that does not belong to the flow.
    public func open(_ request: CredentialsProviderOpen.Params, _ call: any CallContext) throws -> CredentialsProviderOpen.Result {
        try refuseRoleOfOtherFlow(request)
        let key = ProviderKey(poolId: request.poolId, key: request.key)
        let (identityId, storeId) = try context.database.read { tx in
            _ = try configurations.pool(key.poolId, in: tx)
            return (try tx.keptIdentity(key)?.id, try configurations.storeId(in: tx))
        }
        let provider = CredentialsProviderSession(
            handle: Base64URL.encode(context.random.bytes(16)),
            settings: .init(
                key: key, asksCaller: request.tokenSource == .caller, flow: request.flow, roleArn: request.roleArn,
                customRoleArn: request.customRoleArn, refreshAheadSeconds: request.refreshAheadSeconds),
            storeId: storeId, memory: CachedCredentials(logins: request.logins ?? [:], identityId: identityId))
        try providers.add(provider)
        return CredentialsProviderOpen.Result(provider: provider.handle, identityId: identityId)
    }

    private func refuseRoleOfOtherFlow(_ request: CredentialsProviderOpen.Params) throws {
        let (name, given, flow) =
            request.flow == .basic ? ("customRoleArn", request.customRoleArn, "enhanced") : ("roleArn", request.roleArn, "basic")
        guard given != nil else { return }
        throw InvalidParams(violations: [
            Violation(
                pointer: "/\(name)", rule: "dependencies",
                message: "\(name) is only for the \(flow) flow. Omit it, or open the provider with this flow.")
        ])
    }
}
