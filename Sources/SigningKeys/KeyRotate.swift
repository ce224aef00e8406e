import Contract
import Crypto
import ServiceContext
import Storage

extension KeyService {
    /// Creates the next signing key of a pool, a tenant or the account and publishes it immediately, so that verifiers have it before it becomes active.
    /// Replaces a next key that was not yet active.
    ///
    /// - Throws: `PoolNotFound`, `TenantNotFound`, `IssuerNotFound`.
    public func rotate(_ request: KeyRotate.Params, _ call: any CallContext) throws -> KeyRotate.Result {
        let now = context.clock.now
        let owner: KeyOwner =
            switch request.owner {
            case .poolId(let id): .pool(id)
            case .tenantId(let id): .tenant(id)
            case .issuer(let issuer): try self.owner(ofIssuer: issuer)
            }
        let own = try context.database.read { try owners.algorithm(of: owner, in: $0) }
        let algorithm = Crypto.SigningAlgorithm(rawValue: request.algorithm?.rawValue ?? own) ?? .ES256
        if owner.isAccount { try Self.requireAccountAlgorithm(algorithm) }
        let key = try NewSigningKey(
            for: owner, algorithm: algorithm, activeAt: now + request.activateAfterSeconds, context)
        let ring = try context.database.write { tx in
            try tx.lock([owner.path])
            _ = try owners.algorithm(of: owner, in: tx)
            // The only key signs before its time, so it stays: its tokens must remain valid.
            let before = try tx.keyRing(of: owner, vault: context.vault)
            let signing = owner.isAccount ? before.active(algorithm, at: now) : before.active(at: now)
            if let signing, signing.activeAt > now { try tx.activateKey(signing.kid, at: now) }
            try tx.deleteNextKeys(of: owner, algorithm, at: now)
            try tx.insert(key, at: now)
            try tx.advanceEpoch()
            try context.audit.record(
                AuditEvent(
                    method: KeyRotate.info.name, by: call, poolId: owner.poolId, subject: key.kid,
                    details: owner.tenantId.map { ["tenantId": .string($0)] } ?? [:]), at: now, in: tx)
            return try tx.keyRing(of: owner, vault: context.vault)
        }
        guard let stored = ring.keys.first(where: { $0.kid == key.kid }), let answer = answer(stored, in: ring, at: now) else {
            throw KeyNotFound(kid: key.kid)
        }
        return answer
    }

    private func owner(ofIssuer issuer: String) throws -> KeyOwner {
        guard let owner = context.realm.owner(ofIssuer: issuer) else { throw IssuerNotFound(issuer: issuer) }
        // The keys of the account exist when its tokens were permitted.
        if owner.isAccount, try context.database.read({ try signingKeys.ring(of: owner, in: $0) }).keys.isEmpty {
            throw IssuerNotFound(issuer: issuer)
        }
        return owner
    }

    private static func requireAccountAlgorithm(_ algorithm: Crypto.SigningAlgorithm) throws {
        if AccountKeys.algorithms.contains(algorithm) { return }
        let message = "The account signs with RS256 and ES384 only. Choose one of them."
        throw InvalidParams(violations: [Violation(pointer: "/algorithm", rule: "enum", message: message)])
    }
}
