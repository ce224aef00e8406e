import Contract
import ServiceContext
import SigningKeys

extension PoolService {
    /// Deletes a pool with its identities, logins, roles and keys. Existing credentials remain valid until they expire.
    ///
    /// - Throws: `PoolNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `DeleteIdentityPool`.
    public func delete(_ request: PoolDelete.Params, _ call: any CallContext) throws -> PoolDelete.Result {
        let now = context.clock.now
        try context.database.write { tx in
            guard try tx.deletePool(request.poolId) else { throw PoolNotFound(poolId: request.poolId) }
            try tx.deleteKeys(of: .pool(request.poolId))
            try tx.advanceEpoch()
            try context.audit.record(
                AuditEvent(method: PoolDelete.info.name, by: call, poolId: request.poolId), at: now, in: tx)
        }
        return PoolDelete.Result(poolId: request.poolId)
    }
}
