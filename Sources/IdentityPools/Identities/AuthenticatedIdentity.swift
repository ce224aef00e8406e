import Contract
import ServiceContext
import Storage

/// An identity that a client gave, with its verified logins: the input of `token.mint`, `credentials.get` and `identity.unlink`.
struct AuthenticatedIdentity: Sendable {
    let pool: PoolRecord
    let identity: Identity
    let proofs: [VerifiedLogin]
}

extension LoginVerifier {
    /// Reads the given identity and verifies its logins. The checks are made in this order: existence, state, logins.
    ///
    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `ClassicFlowDisabled`, and the errors of the verification of logins.
    func prove(
        _ identityId: String, _ logins: Members<String>?, _ call: any CallContext, now: Int64, classicFlow: Bool = false
    ) throws -> Phase<AuthenticatedIdentity> {
        let (pool, identity) = try context.database.read { tx in
            guard let identity = try tx.identity(identityId), let pool = try configurations.knownPool(identity.poolId, in: tx) else {
                throw IdentityNotFound(identityId: identityId)
            }
            return (pool, identity)
        }
        if identity.state == .disabled { throw IdentityDisabled(identityId: identityId) }
        if classicFlow, !pool.allowClassicFlow { throw ClassicFlowDisabled(poolId: pool.id) }
        switch try verify(logins, of: pool, call, now: now) {
        case .done(let proofs): return .done(AuthenticatedIdentity(pool: pool, identity: identity, proofs: proofs))
        case .next(let wait, let rest):
            return .next(wait) { call in
                try rest(call).then(call) { proofs, _ in .done(AuthenticatedIdentity(pool: pool, identity: identity, proofs: proofs)) }
            }
        }
    }
}
