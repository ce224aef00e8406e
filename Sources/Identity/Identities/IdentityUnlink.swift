import Contract
import Storage

extension IdentityService {
    /// Takes public logins off an identity that one login proves.
    ///
    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `LoginsDoNotMatch`, `LoginNotLinked`, and what
    ///   verifying logins throws.
    /// - Source: UnlinkIdentity; cognito.md 3.7, 7.5.
    public func unlink(_ request: IdentityUnlink.Params, _ call: any CallContext) throws -> IdentityUnlink.Result {
        let now = surroundings.clock.now
        let id = request.identityId
        let proven = try surroundings.prove(id, request.logins, catalogue, call, now: now)
        if proven.proofs.isEmpty { throw IdentityForbidden(identityId: id) }
        return try surroundings.database.write { tx in
            try tx.lock([id])
            guard let identity = try tx.identity(id) else { throw IdentityNotFound(identityId: id) }
            if identity.state == .disabled { throw IdentityDisabled(identityId: id) }
            guard try proven.proofs.contains(where: { try tx.identity(owning: $0.login, in: proven.pool.id) == id }) else {
                throw LoginsDoNotMatch(identityId: id)
            }
            for provider in request.loginsToRemove {
                // A developer login is taken off by whoever vouched for it.
                guard provider != proven.pool.developerProvider, try tx.unlink(provider, from: id) > 0 else {
                    throw LoginNotLinked(identityId: id, provider: provider)
                }
            }
            return try finishUnlinking(id, of: proven.pool.id, request.loginsToRemove, IdentityUnlink.info.name, call, at: now, in: tx)
        }
    }

    /// Takes a developer user identifier off an identity.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedDeveloperProvider`, `IdentityNotFound`, `DeveloperUserNotFound`, `LoginConflict`.
    /// - Source: UnlinkDeveloperIdentity; cognito.md 3.2, 7.5.
    public func unlinkDeveloper(_ request: IdentityUnlinkDeveloper.Params, _ call: any CallContext) throws -> IdentityUnlinkDeveloper.Result
    {
        let now = surroundings.clock.now
        let id = request.identityId
        return try surroundings.database.write { tx in
            let pool = try catalogue.pool(request.poolId, in: tx)
            try pool.requireDeveloperProvider(request.developerProvider)
            try tx.lock([id])
            guard let identity = try tx.identity(id), identity.poolId == pool.id else { throw IdentityNotFound(identityId: id) }
            let login = Login(provider: request.developerProvider, subject: request.developerUserIdentifier)
            guard let owner = try tx.identity(owning: login, in: pool.id) else { throw DeveloperUserNotFound(poolId: pool.id) }
            guard owner == id else {
                throw LoginConflict(provider: login.provider, reason: "the identifier belongs to another identity than \(id)")
            }
            _ = try tx.unlink(login.provider, subject: login.subject, from: id)
            return try finishUnlinking(id, of: pool.id, [login.provider], IdentityUnlinkDeveloper.info.name, call, at: now, in: tx)
        }
    }

    /// An identity without logins is disabled for good; it never becomes a guest again.
    private func finishUnlinking(
        _ id: String, of poolId: String, _ providers: [String], _ method: String, _ call: any CallContext, at now: Int64, in tx: Transaction
    ) throws -> IdentityDescription {
        try tx.setState(try tx.logins(of: id).isEmpty ? .disabled : .authenticated, of: id, at: now)
        try surroundings.audit.record(
            AuditEvent(
                method: method, trace: call.trace, poolId: poolId, identityId: id,
                details: ["unlinked": .array(providers.map { .string($0) })]),
            at: now, in: tx)
        return try answer(try tx.identity(id)!, in: tx)
    }
}

extension PoolRecord {
    /// - Throws: `UnsupportedDeveloperProvider` unless `name` is the pool's developer provider.
    func requireDeveloperProvider(_ name: String?) throws {
        guard let developerProvider, name == nil || name == developerProvider else {
            throw UnsupportedDeveloperProvider(poolId: id, given: name.map { [$0] } ?? [], developerProvider: developerProvider)
        }
    }
}
