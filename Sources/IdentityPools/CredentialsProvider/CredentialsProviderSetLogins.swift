import Contract

extension CredentialsProviderService {
    /// Takes other logins from now on; credentials go, the identity's id stays until a refresh says otherwise.
    ///
    /// - Throws: `ProviderNotOpen`.
    /// - Source: cognito.md 8.3, setLogins.
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
