import Contract
import Platform
import ServiceContext

extension CredentialsProviderService {
    /// Returns credentials that are valid for some time, or requests the token that is needed to get them.
    ///
    /// - Throws: `ProviderNotOpen`, `ProviderOvertaken`, and the errors of resolving the identity and of the exchange.
    public func get(_ request: CredentialsProviderGet.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        try getInPhases(request, call).value(for: call)
    }

    /// Answers as `get` does. The first phase returns credentials that are held; the second one refreshes them.
    public func getInPhases(
        _ request: CredentialsProviderGet.Params, _ call: any CallContext
    ) throws -> Phase<CredentialsProviderAnswer> {
        try get(request, from: provider(request.provider), call)
    }

    private func get(
        _ request: CredentialsProviderGet.Params, from provider: CredentialsProviderSession, _ call: any CallContext
    ) throws -> Phase<CredentialsProviderAnswer> {
        let now = context.clock.now
        let outcome = try provider.refresh(
            call,
            held: { memory in
                let phase = ProviderRule.phase(memory, now: now, refreshAheadSeconds: provider.settings.refreshAheadSeconds)
                return ProviderRule.held(memory, phase, anew: request.refresh).map { CredentialsProviderAnswer($0) }
            }
        ) { memory, begun in
            try take(
                .credentials(anew: request.refresh), &memory,
                CredentialsRefresh(of: provider, begun, call, by: CredentialsProviderGet.info, now: now))
        }
        switch outcome {
        case .answer(let answer): return .done(answer)
        case .mustWait: return .next(.store) { call in try scoped(to: call).get(request, from: provider, call) }
        case .joins(let refresh):
            let isDone = AwaitedEvent(isBrief: true) { resume in refresh.whenDone { _ in resume() } }
            return .next(.event(isDone)) { call in
                do { return .done(try refresh.outcome.get()) } catch is Cancelled {
                    // The call that ran the refresh was canceled, so there is no result to share.
                    return try scoped(to: call).get(request, from: provider, call)
                }
            }
        }
    }
}
