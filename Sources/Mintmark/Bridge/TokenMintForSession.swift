import Contract
import IdentityPools
import ServiceContext

extension TokenService {
    /// Returns a token with which a session of temporary credentials authenticates at other services.
    ///
    /// - Throws: `SessionTokenInvalid`, `CredentialsExpired`, `CredentialsRevoked`, `OutboundFederationDisabled`,
    ///   `SessionDurationEscalation`, `TokenPayloadTooLarge`.
    /// - Source: AWS STS API Reference, `GetWebIdentityToken`.
    public func mintForSession(_ request: TokenMintForSession.Params, _ call: any CallContext) throws -> TokenMintForSession.Result {
        let session = try CredentialsService(context, pools).verify(
            CredentialsVerify.Params(proof: .sessionToken(request.sessionToken)), call)
        let outbound = OutboundTokens(context, pools)
        let (token, expiresAt) = try outbound.mint(
            .init(
                audience: request.audience, algorithm: request.signingAlgorithm.rawValue, durationSeconds: request.durationSeconds,
                tags: request.tags ?? [:]), for: session, by: TokenMintForSession.info.name, call)
        return TokenMintForSession.Result(token: token, expiresAt: expiresAt, issuer: outbound.issuer)
    }

    /// Returns or changes whether tokens for sessions are issued.
    public func outboundFederation(
        _ request: TokenOutboundFederation.Params, _ call: any CallContext
    ) throws -> TokenOutboundFederation.Result {
        let outbound = OutboundTokens(context, pools)
        if let isEnabled = request.enabled { try outbound.setEnabled(isEnabled, by: TokenOutboundFederation.info.name, call) }
        return TokenOutboundFederation.Result(issuer: outbound.issuer, enabled: try request.enabled ?? outbound.isEnabled())
    }
}
