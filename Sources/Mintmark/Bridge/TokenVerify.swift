import Accounts
import Contract
import IdentityPools
import JSON
import ServiceContext
import SigningKeys

extension TokenService {
    /// Verifies any token of this store: a pool's token, or a tenant's ID token or access token.
    ///
    /// - Throws: A `Token…` error that names the failed check.
    /// - Source: RFC 7519 §7.2, RFC 8725.
    public func verify(_ request: TokenVerify.Params, _ call: any CallContext) throws -> TokenVerify.Result {
        let now = context.clock.now
        let (jws, key) = try TokenSignature(context: context, signingKeys: signingKeys).verify(request.token)
        if let tenantId = key.owner.tenantId {
            let token = try tenantTokens.verify(
                jws, of: tenantId,
                .init(
                    audience: request.audience, issuer: request.issuer, tenantId: request.tenantId, use: request.use,
                    checksStanding: request.checkRevoked), now: now)
            if request.checkRevoked { try requireTrustedActors(of: token) }
            try SignInStrength(request)?.check(token.claims, now: now)
            try Self.check(request.scope, in: token.use == .access ? token.claims["scope"]?.string : nil)
            return TokenVerify.Result(
                claims: EncodedObject(token.claims), header: EncodedObject(token.header), use: token.use, issuer: token.issuer,
                expiresAt: token.expiresAt)
        }
        // The tokens of the account are for other services.
        if key.owner.isAccount { throw TokenUseMismatch(expected: (request.use ?? .pool).kind, actual: .other) }
        let token = try poolTokens.verify(
            jws, signedBy: key,
            .init(
                audience: request.audience, issuer: request.issuer ?? request.tenantId.map { context.realm.issuer(of: .tenant($0)) },
                checksRevocation: request.checkRevoked), now: now)
        if let use = request.use, use != .pool { throw TokenUseMismatch(expected: use.kind, actual: .pool) }
        try SignInStrength(request)?.check(token.claims, now: now)
        try Self.check(request.scope, in: nil)
        return TokenVerify.Result(
            claims: EncodedObject(token.claims), header: EncodedObject(token.header), use: .pool, issuer: token.issuer,
            expiresAt: token.expiresAt)
    }

    /// - Throws: `TokenScopeMissing`.
    private static func check(_ wanted: String?, in claim: String?) throws {
        let missing = Scopes(claim ?? "").lacking(Scopes(wanted ?? "").names)
        if !missing.isEmpty { throw TokenScopeMissing(missing: missing) }
    }
}
