import Contract
import ServiceContext

extension CredentialsProviderService {
    /// Returns the stored identity ID. If none is stored or it may have changed, resolves it first.
    ///
    /// - Throws: `ProviderNotOpen`, `ProviderOvertaken`, and the errors of resolving the identity.
    public func identityId(_ request: CredentialsProviderIdentityId.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        let provider = try provider(request.provider)
        let memory = provider.memory
        if let known = memory.identityId, !memory.mustLookAgain,
            try context.database.read({ try $0.keptIdentity(provider.settings.key)?.id }) == known
        {
            return .ready(.init(identityId: known))
        }
        let now = context.clock.now
        return try provider.search { memory, begun in
            try take(.identityId, &memory, CredentialsRefresh(of: provider, begun, call, by: CredentialsProviderIdentityId.info, now: now))
        }
    }
}
