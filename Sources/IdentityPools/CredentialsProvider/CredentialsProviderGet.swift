import Contract
import ServiceContext

extension CredentialsProviderService {
    /// Answers credentials that last a while, or asks for the token that they cost.
    ///
    /// - Throws: `ProviderNotOpen`, `ProviderOvertaken`, and what finding the identity and exchanging throw.
    /// - Source: cognito.md 8.3, getCredentials.
    public func get(_ request: CredentialsProviderGet.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        let provider = try provider(request.provider)
        let now = surroundings.clock.now
        return try provider.refresh(
            call,
            held: { memory in
                let phase = ProviderRule.phase(memory, now: now, refreshAheadSeconds: provider.settings.refreshAheadSeconds)
                return ProviderRule.held(memory, phase, anew: request.refresh).map { CredentialsProviderAnswer($0) }
            }
        ) { memory, begun in
            try take(
                .credentials(anew: request.refresh), &memory, ProviderTurn(provider, begun, call, CredentialsProviderGet.info, now: now))
        }
    }
}
