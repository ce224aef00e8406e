import Contract
import Crypto
import ServiceContext

extension CredentialsProviderService {
    /// Accepts the identity and the token that the application's backend has minted, and exchanges them for credentials.
    ///
    /// - Throws: `TokenNotAwaited`, `ProviderOvertaken`, `Token…` errors; `LoginsDoNotMatch` if the token belongs to another identity; the
    ///   errors of the exchange.
    public func submitToken(_ request: CredentialsProviderSubmitToken.Params, _ call: any CallContext) throws -> CredentialsProviderAnswer {
        guard let provider = providers.find(asking: request.continuationToken), try provider.storeId == storeId() else {
            throw TokenNotAwaited()
        }
        let now = context.clock.now
        return try provider.refreshNext(held: { try Self.held($0, for: request) }) { memory, begun in
            let turn = CredentialsRefresh(of: provider, begun, call, by: CredentialsProviderSubmitToken.info, now: now)
            let token = try credentials.verifier.verify(request.token, .init(audience: turn.settings.key.poolId), now: now)
            guard token.identityId == request.identityId else { throw LoginsDoNotMatch(identityId: request.identityId) }
            try adopt(token.identityId, &memory, keptBefore: try kept(turn)?.id, turn)
            let user = ProvenUser(
                identityId: token.identityId, isGuest: SessionHolder(token).isGuest, proof: .token(request.token))
            let held = try exchange(user, turn)
            memory.hold(held, for: request.token)
            return CredentialsProviderAnswer(held)
        }
    }

    /// Returns the held credentials if the same token was already submitted, or `nil` if the token is still awaited.
    ///
    /// - Throws: `TokenNotAwaited`, also if another token was submitted; `LoginsDoNotMatch`.
    private static func held(
        _ memory: CachedCredentials, for request: CredentialsProviderSubmitToken.Params
    ) throws -> CredentialsProviderAnswer? {
        if let awaited = memory.awaited, constantTimeEquals(awaited.continuationToken, request.continuationToken) { return nil }
        guard let answered = memory.answered, constantTimeEquals(answered.continuationToken, request.continuationToken),
            constantTimeEquals(answered.token, request.token), let held = memory.held
        else { throw TokenNotAwaited() }
        guard held.identityId == request.identityId else { throw LoginsDoNotMatch(identityId: request.identityId) }
        return CredentialsProviderAnswer(held)
    }
}
