import Contract
import JSON
import ServiceContext

extension KeyService {
    /// Revokes a key immediately: it is no longer published, and tokens signed with it are rejected. If it was the active key, a new key
    /// replaces it.
    ///
    /// - Throws: `KeyNotFound`.
    public func revoke(_ request: KeyRevoke.Params, _ call: any CallContext) throws -> KeyRevoke.Result {
        let now = context.clock.now
        let found = try context.database.read { try signingKeys.key(request.kid, in: $0) }
        guard let (key, _) = found else { throw KeyNotFound(kid: request.kid) }
        let spare = try NewSigningKey(for: key.owner, algorithm: key.algorithm, activeAt: now, context)
        let (ring, replaced) = try context.database.write { tx -> (KeyRing, Bool) in
            try tx.lock([key.owner.path])
            let before = try tx.keyRing(of: key.owner, vault: context.vault)
            guard before.keys.contains(where: { $0.kid == key.kid }) else { throw KeyNotFound(kid: key.kid) }
            let isBare = before.succession(of: key).active(at: now)?.kid == key.kid
            let changed = try tx.revokeKey(key.kid, at: now)
            if isBare { try tx.insert(spare, at: now) }
            if changed {
                try tx.advanceEpoch()
                var details: JSONObject = isBare ? ["replacement": .string(spare.kid)] : [:]
                details["tenantId"] = key.owner.tenantId.map { .string($0) }
                try context.audit.record(
                    AuditEvent(
                        method: KeyRevoke.info.name, by: call, poolId: key.owner.poolId, subject: key.kid,
                        details: details), at: now, in: tx)
            }
            return (try tx.keyRing(of: key.owner, vault: context.vault), isBare)
        }
        let answers = ring.keys.compactMap { answer($0, in: ring, at: now) }
        guard let revoked = answers.first(where: { $0.kid == key.kid }) else { throw KeyNotFound(kid: key.kid) }
        return KeyRevoke.Result(key: revoked, replacement: replaced ? answers.first { $0.kid == spare.kid } : nil)
    }
}
