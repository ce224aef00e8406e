import Contract
import ServiceContext
import SigningKeys

extension PoolService {
    /// Deletes a pool with its identities, logins, roles and keys. Credentials that it gave out live on until they expire.
    ///
    /// - Throws: `PoolNotFound`.
    /// - Source: DeleteIdentityPool; cognito.md 3.1.
    public func delete(_ request: PoolDelete.Params, _ call: any CallContext) throws -> PoolDelete.Result {
        let now = surroundings.clock.now
        try surroundings.database.write { tx in
            guard try tx.deletePool(request.poolId) else { throw PoolNotFound(poolId: request.poolId) }
            try tx.deleteKeys(of: .pool(request.poolId))
            try tx.advanceEpoch()
            try surroundings.audit.record(
                AuditEvent(method: PoolDelete.info.name, trace: call.trace, poolId: request.poolId), at: now, in: tx)
        }
        return PoolDelete.Result(poolId: request.poolId)
    }
}
