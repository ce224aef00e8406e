import Contract

extension CredentialsProviderService {
    /// Replaces the logins and removes the credentials. The identity ID is kept until the next refresh resolves it again.
    ///
    /// - Throws: `ProviderNotOpen`.
    public func setLogins(
        _ request: CredentialsProviderSetLogins.Params, _ call: any CallContext
    ) throws -> CredentialsProviderSetLogins.Result {
        let identityId = try provider(request.provider).change { memory in
            memory.setLogins(request.logins)
            return memory.identityId
        }
        return .init(provider: request.provider, identityId: identityId, identityMayChange: identityId != nil)
    }
}
