import Contract

extension CredentialsProviderService {
    /// Forgets an open provider; what is kept in the store stays.
    ///
    /// - Throws: `ProviderNotOpen`.
    public func close(_ request: CredentialsProviderClose.Params, _ call: any CallContext) throws -> CredentialsProviderClose.Result {
        try providers.remove(request.provider)
        return .init(provider: request.provider)
    }
}
