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
        let (owner, algorithms) = try context.database.read { tx -> (KeyOwner, [String]) in
            let owner = try self.owner(ofIssuer: request.issuer, in: tx)
            return (owner, Set(try signingKeys.ring(of: owner, in: tx).published(at: now).map(\.algorithm.rawValue)).sorted())
        }
        let claims =
            owner.isAccount
            ? ["iss", "aud", "sub", "iat", "exp", "jti", "https://sts.amazonaws.com/"]
            : ["iss", "aud", "sub", "amr", "iat", "exp", "\(PoolTokenClaims.tagsClaim)", "\(PoolTokenClaims.arnClaim)"]
        return TokenDiscovery.Result(
            issuer: request.issuer, jwksUri: "\(request.issuer)/.well-known/jwks.json", responseTypesSupported: ["id_token"],
            subjectTypesSupported: ["public"], idTokenSigningAlgValuesSupported: algorithms,
            claimsSupported: claims, grantTypesSupported: owner.tenantId == nil ? nil : Self.grants,
            authorizationGrantProfilesSupported: owner.tenantId == nil ? nil : ["urn:ietf:params:oauth:grant-profile:id-jag"])
    }

    private static let grants = ["urn:ietf:params:oauth:grant-type:token-exchange", "urn:ietf:params:oauth:grant-type:jwt-bearer"]
}
