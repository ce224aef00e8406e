import Contract

extension CredentialsProviderService {
    /// Drops the credentials and keeps the identity.
    ///
    /// - Throws: `ProviderNotOpen`.
    /// - Source: cognito.md 8.3, clearCredentials.
    public func clearCredentials(
        _ request: CredentialsProviderClearCredentials.Params, _ call: any CallContext
    ) throws -> CredentialsProviderClearCredentials.Result {
        let identityId = try provider(request.provider).change { memory in
            memory.dropCredentials()
            return memory.identityId
        }
        return .init(provider: request.provider, identityId: identityId)
    }
}
