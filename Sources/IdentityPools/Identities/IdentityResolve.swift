import Contract
import ServiceContext
import Storage

extension IdentityService {
    /// Finds or creates the identity of verified logins. Without logins, creates a guest.
    ///
    /// - Throws: `PoolNotFound`, `UnauthenticatedNotAllowed`, `LoginConflict`, and the errors of the verification of logins.
    /// - Source: Amazon Cognito Federated Identities API Reference, `GetId`.
    public func resolve(_ request: IdentityResolve.Params, _ call: any CallContext) throws -> IdentityResolve.Result {
        try resolve(request, call) { _, _ in }
    }

    /// - Parameter complete: Completes the call in the same transaction. If it throws, nothing is changed.
    func resolve(
        _ request: IdentityResolve.Params, _ call: any CallContext, complete: (Transaction, ResolvedIdentity) throws -> Void
    ) throws -> IdentityResolve.Result {
        let now = context.clock.now
        var proofs: [VerifiedLogin] = []
        if let logins = request.logins, !logins.isEmpty {
            let pool = try context.database.read { try configurations.pool(request.poolId, in: $0) }
            proofs = try LoginVerifier(context, configurations).verify(logins, of: pool, call, now: now)
        }
        let event = AuditEvent(method: IdentityResolve.info.name, by: call, poolId: request.poolId)
        let (_, identity) = try context.resolve(event, at: now) { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            return ((), try IdentityResolution.Facts(tx, pool: pool, given: nil, logins: proofs.map(\.login)))
        } complete: { tx, _, identity in
            try complete(tx, identity)
        }
        return IdentityResolve.Result(identityId: identity.id, isNewIdentity: identity.isNew)
    }
}
