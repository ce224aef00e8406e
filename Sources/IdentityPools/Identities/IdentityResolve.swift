import Contract
import ServiceContext
import Storage

extension IdentityService {
    /// Finds or creates the identity of verified logins. Without logins, creates a guest.
    ///
    /// - Throws: `PoolNotFound`, `UnauthenticatedNotAllowed`, `LoginConflict`, and the errors of the verification of logins.
    /// - Source: Amazon Cognito Federated Identities API Reference, `GetId`.
    public func resolve(_ request: IdentityResolve.Params, _ call: any CallContext) throws -> IdentityResolve.Result {
        try resolveInPhases(request, call).value(for: call)
    }

    /// Resolves as `resolve` does. The first phase reads and decides; the second one writes, if the identity is new or changes.
    public func resolveInPhases(_ request: IdentityResolve.Params, _ call: any CallContext) throws -> Phase<IdentityResolve.Result> {
        try resolve(request, call) { _, _ in }
    }

    /// - Parameter complete: Completes the call in the same transaction. If it throws, nothing is changed.
    func resolve(
        _ request: IdentityResolve.Params, _ call: any CallContext,
        complete: @escaping @Sendable (Transaction, ResolvedIdentity) throws -> Void
    ) throws -> Phase<IdentityResolve.Result> {
        let now = context.clock.now
        guard let logins = request.logins, !logins.isEmpty else { return try resolve(request, [], call, now: now, complete: complete) }
        let pool = try context.database.read { try configurations.pool(request.poolId, in: $0) }
        switch try LoginVerifier(context, configurations).verify(logins, of: pool, call, now: now) {
        case .done(let proofs): return try resolve(request, proofs, call, now: now, complete: complete)
        case .next(let wait, let rest):
            return .next(wait) { call in
                try rest(call).then(call) { proofs, call in
                    let service = scoped(to: call)
                    return try service.resolve(request, proofs, call, now: service.context.clock.now, complete: complete)
                }
            }
        }
    }

    private func resolve(
        _ request: IdentityResolve.Params, _ proofs: [VerifiedLogin], _ call: any CallContext, now: Int64,
        complete: @escaping @Sendable (Transaction, ResolvedIdentity) throws -> Void
    ) throws -> Phase<IdentityResolve.Result> {
        let event = AuditEvent(method: IdentityResolve.info.name, by: call, poolId: request.poolId)
        let resolved = try context.resolve(event, at: now) { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            return ((), try IdentityResolution.Facts(tx, pool: pool, given: nil, logins: proofs.map(\.login)))
        } complete: { tx, _, identity in
            try complete(tx, identity)
        }
        guard let (_, identity) = resolved else {
            return .next(.write) { call in try scoped(to: call).resolve(request, proofs, call, now: now, complete: complete) }
        }
        return .done(IdentityResolve.Result(identityId: identity.id, isNewIdentity: identity.isNew))
    }
}
