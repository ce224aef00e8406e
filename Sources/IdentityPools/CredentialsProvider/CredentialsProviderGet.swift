import Contract
import ServiceContext

extension CredentialsProviderService {
    /// Returns credentials that are valid for some time, or requests the token that is needed to get them.
    ///
    /// - Throws: `ProviderNotOpen`, `ProviderOvertaken`, and the errors of resolving the identity and of the exchange.
    public func get(_ request: CredentialsProviderGet.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        let provider = try provider(request.provider)
        let now = context.clock.now
        return try provider.refresh(
            call,
            held: { memory in
                let phase = ProviderRule.phase(memory, now: now, refreshAheadSeconds: provider.settings.refreshAheadSeconds)
                return ProviderRule.held(memory, phase, anew: request.refresh).map { CredentialsProviderAnswer($0) }
            }
        ) { memory, begun in
            try take(
                .credentials(anew: request.refresh), &memory,
                CredentialsRefresh(provider, begun, call, CredentialsProviderGet.info, now: now))
        }
    }
}
