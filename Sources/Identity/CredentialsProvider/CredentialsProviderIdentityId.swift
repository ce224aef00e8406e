import Contract

extension CredentialsProviderService {
    /// Answers the id that is kept; looks for it first if there is none, or if it may have changed.
    ///
    /// - Throws: `ProviderNotOpen`, and what finding the identity throws.
    /// - Source: cognito.md 8.3, getIdentityId.
    public func identityId(_ request: CredentialsProviderIdentityId.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        let provider = try provider(request.provider)
        let memory = provider.memory
        if let known = memory.identityId, !memory.mustLookAgain,
            try surroundings.database.read({ try $0.keptIdentity(provider.settings.key)?.id }) == known
        {
            return CredentialsProviderAnswer(state: .ready, identityId: known)
        }
        let turn = ProviderTurn(provider, call, CredentialsProviderIdentityId.info, now: surroundings.clock.now)
        return try provider.change { try take(.identityId, &$0, turn) }
    }
}
