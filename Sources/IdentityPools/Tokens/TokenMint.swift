import Contract
import ServiceContext

extension PoolTokens {
    /// The lifetime of a token of the classic flow, in seconds.
    private static let seconds: Int64 = 600

    /// Mints an OpenID token for an identity with verified logins, or for a guest.
    ///
    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `ClassicFlowDisabled`, `UnauthenticatedNotAllowed`,
    ///   `LoginsDoNotMatch`, `LoginConflict`, and the errors of login verification.
    /// - Source: `GetOpenIdToken` in the Amazon Cognito API reference.
    public func mint(_ request: TokenMint.Params, _ call: any CallContext) throws -> TokenMint.Result {
        try mintInPhases(request, call).value(for: call)
    }

    /// Mints as `mint` does. The first phase reads and decides; the second one writes, if the logins are new.
    public func mintInPhases(_ request: TokenMint.Params, _ call: any CallContext) throws -> Phase<TokenMint.Result> {
        let now = context.clock.now
        let verifier = LoginVerifier(context, configurations)
        switch try verifier.prove(request.identityId, request.logins, call, now: now, classicFlow: true) {
        case .done(let proven): return try mint(request, proven, call, now: now)
        case .next(let wait, let rest):
            return .next(wait) { call in
                try rest(call).then(call) { proven, call in
                    let minting = scoped(to: call)
                    return try minting.mint(request, proven, call, now: minting.context.clock.now)
                }
            }
        }
    }

    private func mint(
        _ request: TokenMint.Params, _ proven: AuthenticatedIdentity, _ call: any CallContext, now: Int64
    ) throws -> Phase<TokenMint.Result> {
        let minted = try context.resolve(
            AuditEvent(method: TokenMint.info.name, by: call, poolId: proven.pool.id), recordsKept: context.audit.recordsIssuance,
            at: now
        ) { tx in
            let issuing = try configurations.issuingPool(proven.pool.id, in: tx)
            return (
                try issuing.issuer(at: now),
                try .init(tx, pool: issuing.pool, given: request.identityId, logins: proven.proofs.map(\.login))
            )
        } complete: { _, issuer, identity in
            let claims = PoolTokenClaims(
                issuer: issuer, identityId: identity.id, amr: .init(proven.proofs),
                tags: try proven.pool.tagMaps.tags(of: proven.proofs), issuedAt: now, expiresAt: now + Self.seconds)
            return (issuer, try claims.checkedJSON(), claims.expiresAt)
        }
        guard let ((issuer, claims, expiresAt), identity) = minted else {
            return .next(.write) { call in try scoped(to: call).mint(request, proven, call, now: now) }
        }
        return .done(TokenMint.Result(identityId: identity.id, token: try issuer.sign(claims), expiresAt: expiresAt))
    }
}
