import Contract
import JSON

extension TokenService {
    /// Verifies any token that this store has issued.
    ///
    /// - Throws: a `Token…` error that names the check that failed.
    /// - Source: RFC 7519 section 7.2, RFC 8725; cognito.md 5.5.
    public func verify(_ request: TokenVerify.Params, _ call: any CallContext) throws -> TokenVerify.Result {
        let verifier = PoolTokenVerifier(surroundings: surroundings, catalogue: catalogue)
        let token = try verifier.verify(
            request.token, .init(audience: request.audience, issuer: request.issuer, checksRevocation: request.checkRevoked),
            now: surroundings.clock.now)
        if let use = request.use, use != .pool { throw TokenUseMismatch(expected: use, actual: .pool) }
        return TokenVerify.Result(
            claims: EncodedObject(token.claims), header: EncodedObject(token.header), use: .pool, issuer: token.issuer,
            expiresAt: token.expiresAt)
    }
}
