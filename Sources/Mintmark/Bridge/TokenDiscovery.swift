import Contract
import IdentityPools
import ServiceContext
import SigningKeys

extension TokenService {
    /// Returns the discovery document of an issuer, to be served over HTTP.
    ///
    /// - Throws: `IssuerNotFound`.
    /// - Source: OpenID Connect Discovery 1.0 §3.
    public func discovery(_ request: TokenDiscovery.Params, _ call: any CallContext) throws -> TokenDiscovery.Result {
        let now = context.clock.now
        let algorithms = try context.database.read { tx in
            let owner = try owner(ofIssuer: request.issuer, in: tx)
            return Set(try signingKeys.ring(of: owner, in: tx).published(at: now).map(\.algorithm.rawValue)).sorted()
        }
        return TokenDiscovery.Result(
            issuer: request.issuer, jwksUri: "\(request.issuer)/.well-known/jwks.json", responseTypesSupported: ["id_token"],
            subjectTypesSupported: ["public"], idTokenSigningAlgValuesSupported: algorithms,
            claimsSupported: ["iss", "aud", "sub", "amr", "iat", "exp", "\(PoolTokenClaims.tagsClaim)", "\(PoolTokenClaims.arnClaim)"])
    }
}
