import Contract

extension CredentialsProviderService {
    /// Removes the credentials and keeps the identity.
    ///
    /// - Throws: `ProviderNotOpen`.
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
