import Contract
import ServiceContext

extension CredentialsProviderService {
    /// Answers the id that is kept; looks for it first if there is none, or if it may have changed.
    ///
    /// - Throws: `ProviderNotOpen`, `ProviderOvertaken`, and what finding the identity throws.
    /// - Source: cognito.md 8.3, getIdentityId.
    public func identityId(_ request: CredentialsProviderIdentityId.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        let provider = try provider(request.provider)
        let memory = provider.memory
        if let known = memory.identityId, !memory.mustLookAgain,
            try surroundings.database.read({ try $0.keptIdentity(provider.settings.key)?.id }) == known
        {
            return CredentialsProviderAnswer(state: .ready, identityId: known)
        }
        let now = surroundings.clock.now
        return try provider.search { memory, begun in
            try take(.identityId, &memory, ProviderTurn(provider, begun, call, CredentialsProviderIdentityId.info, now: now))
        }
    }
}
