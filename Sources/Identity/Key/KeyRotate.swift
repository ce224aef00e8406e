import Contract
import Crypto

extension KeyService {
    /// Makes the key that a pool will sign with, and publishes it now so that verifiers know it by then. A key that
    /// was to come next and has signed nothing yet gives way to it.
    ///
    /// - Throws: `PoolNotFound`.
    /// - Source: the keys of section 6 of the design: next, active, retired, gone.
    public func rotate(_ request: KeyRotate.Params, _ call: any CallContext) throws -> KeyRotate.Result {
        let now = surroundings.clock.now
        let pool = try surroundings.database.read { try catalogue.pool(request.poolId, in: $0) }
        let algorithm = Crypto.SigningAlgorithm(rawValue: request.algorithm?.rawValue ?? pool.signingAlgorithm) ?? .ES256
        let key = try NewSigningKey(
            for: .pool(pool.id), algorithm: algorithm, activeAt: now + request.activateAfterSeconds, vault: surroundings.vault)
        let ring = try surroundings.database.write { tx in
            try tx.lock([KeyOwner.pool(pool.id).path])
            guard try tx.pool(pool.id) != nil else { throw PoolNotFound(poolId: pool.id) }
            try tx.deleteNextKeys(of: .pool(pool.id), at: now)
            try tx.insert(key, at: now)
            try tx.advanceEpoch()
            try surroundings.audit.record(
                AuditEvent(method: KeyRotate.info.name, trace: call.trace, poolId: pool.id, subject: key.kid), at: now, in: tx)
            return try tx.keyRing(of: .pool(pool.id), vault: surroundings.vault)
        }
        guard let stored = ring.keys.first(where: { $0.kid == key.kid }), let answer = answer(stored, in: ring, at: now) else {
            throw PoolNotFound(poolId: pool.id)
        }
        return answer
    }
}
