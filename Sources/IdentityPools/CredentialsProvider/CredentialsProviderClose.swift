import Contract

extension CredentialsProviderService {
    /// Closes a provider. Its stored identity is kept.
    ///
    /// - Throws: `ProviderNotOpen`.
    public func close(_ request: CredentialsProviderClose.Params, _ call: any CallContext) throws -> CredentialsProviderClose.Result {
        try providers.remove(request.provider)
        return .init(provider: request.provider)
    }
}
